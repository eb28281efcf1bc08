// Runs before the first paint, so a chosen theme never flashes the other one. Not inline: the page's CSP forbids that.
try {
  var theme = localStorage.getItem('segue.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage can be forbidden; the system's theme is then the answer.
}

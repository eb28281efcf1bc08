// Where the page begins.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// The common look first: what a component says about itself must be able to overrule it.
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app';
import { applyLanguage } from './i18n/language';
import { registerServiceWorker } from './shell/service-worker';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
const draw = () =>
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
// Without its texts the page is drawn in English: a page in another language is more use than none.
applyLanguage()
  .catch((error: unknown) => console.error('the texts of the language did not load:', error))
  .finally(draw);
registerServiceWorker();

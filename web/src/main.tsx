// Where the page begins.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
// The common look first: what a component says about itself must be able to overrule it.
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app';
import { registerServiceWorker } from './shell/service-worker';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
registerServiceWorker();

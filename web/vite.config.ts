/// <reference types="vitest/config" />
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.SEGUE_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  // The texts of a language are one object; an export for every text would double its size.
  json: { namedExports: false },
  build: {
    manifest: true,
    // The page's CSP allows nothing but its own files: no data: URLs, no inline preload helper.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // scripts/budget.mjs watches what counts: the compressed first load.
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/api': server } },
  preview: { proxy: { '/api': server } },
  test: {
    // A busy machine of two cores needs longer than the default of 5 s to read every source file.
    testTimeout: 60_000,
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
  },
});

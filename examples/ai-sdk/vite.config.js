// The front end and Segue on one origin: no CORS is needed, and cookies work.
export default { server: { proxy: { '/api': process.env.SEGUE_URL ?? 'http://127.0.0.1:8080' } } };

// The logo: one note that leads into the next.
export function Logo({ size }: { size: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" fill="#b03f24" />
      <path d="M6 19.5c3.2-8.6 8.6-8.6 10 0s6.8 8.6 10 0" fill="none" stroke="#fff8ef" strokeWidth="2.4" strokeLinecap="round" />
      <circle cx="6.8" cy="22.8" r="2.1" fill="#fff8ef" />
      <circle cx="25.2" cy="11.2" r="2.1" fill="#fff8ef" />
    </svg>
  );
}

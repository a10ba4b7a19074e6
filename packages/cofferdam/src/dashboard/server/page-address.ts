/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|localhost|::1)$/.test(host)
}

/** A page elsewhere can point its own host name at 127.0.0.1; the name it used gives it away. */
export function isLocalName(host: string | undefined): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host ?? '')
}

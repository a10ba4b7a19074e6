/** The token that was typed in. It is kept here and nowhere else: a reload forgets it, and no other page or program finds it. */
let token = ''

export function rememberToken(typed: string): void {
  token = typed
}

/** Asks the server for facts, with the token if there is one. */
export function askServer(path: string, signal: AbortSignal): Promise<Response> {
  return fetch(path, { signal, headers: token === '' ? {} : { authorization: `Bearer ${token}` } })
}

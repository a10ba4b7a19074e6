import { CofferdamError } from '../errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Authentication, ClusterConnection } from './cluster-connection.ts'
import { reloadingText } from './connection-files.ts'
import { type ExecCredential, runExecPlugin } from './exec-credential.ts'

/** What one request carries to prove who asks. The same value is handed out until it changes. */
export interface CredentialSet {
  readonly authorization?: string
  readonly certificate?: string
  readonly key?: string
}

export interface Credentials {
  current(): Promise<CredentialSet>
  /** The server answered 401 to these. Returns whether there are others. */
  renew(refused: CredentialSet): Promise<boolean>
}

export function createCredentials(options: {
  readonly connection: ClusterConnection
  readonly clock: Clock
  readonly interactive: boolean
  readonly execTimeoutMs: number
}): Credentials {
  const { authentication } = options.connection
  switch (authentication.kind) {
    case 'none':
      return unchanging({})
    case 'basic': {
      const pair = `${authentication.username}:${authentication.password}`
      return unchanging({ authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` })
    }
    case 'token':
      return authentication.tokenFile === undefined
        ? unchanging({ authorization: `Bearer ${authentication.token}` })
        : tokenFromFile({ ...authentication, path: authentication.tokenFile, clock: options.clock })
    case 'exec':
      return fromPlugin({ ...options, plugin: authentication.plugin })
  }
}

function unchanging(credentials: CredentialSet): Credentials {
  return { current: () => Promise.resolve(credentials), renew: () => Promise.resolve(false) }
}

/** The file goes before a token written beside it; that one is used while the file has never been readable. */
function tokenFromFile(options: {
  readonly path: string
  readonly origin: string
  readonly token?: string
  readonly clock: Clock
}): Credentials {
  const { path, origin, token: fallback } = options
  const file = reloadingText({ path, origin }, options.clock)
  let last: { readonly token: string; readonly set: CredentialSet } | undefined

  async function current(): Promise<CredentialSet> {
    const token = (await readToken()).trim()
    if (token === '' || !/^[\x21-\x7e]+$/.test(token)) {
      throw new CofferdamError('CREDENTIALS_UNAVAILABLE', `${origin}: ${path} holds no token`, {
        facts: { file: path },
        hint: 'write the token into that file, or log in again',
      })
    }
    if (last?.token !== token) last = { token, set: { authorization: `Bearer ${token}` } }
    return last.set
  }

  async function readToken(): Promise<string> {
    try {
      return await file.current()
    } catch (error) {
      if (fallback !== undefined) return fallback
      throw error
    }
  }

  return {
    current,
    async renew(refused) {
      file.recheck()
      return (await current()) !== refused
    },
  }
}

function fromPlugin(options: {
  readonly plugin: Extract<Authentication, { kind: 'exec' }>['plugin']
  readonly connection: ClusterConnection
  readonly clock: Clock
  readonly interactive: boolean
  readonly execTimeoutMs: number
}): Credentials {
  const { plugin, connection, clock, interactive, execTimeoutMs } = options
  const authority =
    connection.certificateAuthority === undefined ? undefined : reloadingText(connection.certificateAuthority, clock)
  let held: { readonly set: CredentialSet; readonly expiresAt: number } | undefined
  let running: Promise<CredentialSet> | undefined

  async function ask(): Promise<CredentialSet> {
    try {
      const certificateAuthority = plugin.provideClusterInfo ? await authority?.current() : undefined
      const answer = await runExecPlugin({
        plugin,
        connection,
        certificateAuthority,
        clock,
        interactive,
        timeoutMs: execTimeoutMs,
      })
      held = { set: toSet(answer), expiresAt: answer.expiresAt ?? Number.POSITIVE_INFINITY }
      return held.set
    } finally {
      running = undefined
    }
  }

  /** One run serves everybody who waits: a plugin may open a browser. */
  function askOnce(): Promise<CredentialSet> {
    running ??= ask()
    return running
  }

  return {
    current: () => (held !== undefined && clock.now() < held.expiresAt ? Promise.resolve(held.set) : askOnce()),
    async renew(refused) {
      if (held?.set === refused) await askOnce()
      return true
    },
  }
}

function toSet({ token, certificate, key }: ExecCredential): CredentialSet {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
  }
}

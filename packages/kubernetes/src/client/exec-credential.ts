import { spawn } from 'node:child_process'
import { isJsonObject, type JsonObject } from '../api/json.ts'
import { CofferdamError } from '../errors.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ClusterConnection, ExecPlugin } from './cluster-connection.ts'

export interface ExecCredential {
  readonly token?: string
  readonly certificate?: string
  readonly key?: string
  /** Milliseconds since the epoch; absent when the plugin sets no end. */
  readonly expiresAt?: number
}

export interface ExecRun {
  readonly plugin: ExecPlugin
  readonly connection: ClusterConnection
  /** The certificate authority as text, for plugins that ask for the cluster. */
  readonly certificateAuthority: string | undefined
  readonly clock: Clock
  /** Whether somebody sits at the terminal whom the plugin may ask. */
  readonly interactive: boolean
  readonly timeoutMs: number
}

/**
 * Runs the plugin once and reads the ExecCredential it prints.
 *
 * Its standard error goes straight to ours: people read there what to do, and it may hold what no message of ours should.
 */
export async function runExecPlugin(run: ExecRun): Promise<ExecCredential> {
  const { plugin, connection } = run
  if (plugin.interactiveMode === 'Always' && !run.interactive) {
    throw unavailable(run, 'wants to ask somebody at a terminal, and there is none', {
      hint: 'log in at a terminal first, or use a user with a token or certificate',
    })
  }
  const isInteractive = run.interactive && plugin.interactiveMode !== 'Never'
  const output = await capture(run, isInteractive, {
    ...plugin.environment,
    KUBERNETES_EXEC_INFO: JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: plugin.apiVersion,
      spec: {
        interactive: isInteractive,
        ...(plugin.provideClusterInfo ? { cluster: describeCluster(connection, run) } : {}),
      },
    }),
  })
  return readCredential(run, output)
}

function describeCluster(connection: ClusterConnection, { plugin, certificateAuthority }: ExecRun) {
  return {
    server: connection.server,
    ...(connection.tlsServerName === undefined ? {} : { 'tls-server-name': connection.tlsServerName }),
    ...(connection.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority, 'latin1').toString('base64') }),
    ...(connection.proxyUrl === undefined ? {} : { 'proxy-url': connection.proxyUrl }),
    ...(plugin.clusterConfig === undefined ? {} : { config: plugin.clusterConfig }),
  }
}

function capture(run: ExecRun, isInteractive: boolean, env: Record<string, string>): Promise<string> {
  const { plugin, clock, timeoutMs } = run
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, [...plugin.args], {
      env,
      stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      windowsHide: true,
    })
    const chunks: Buffer[] = []
    let expired = false
    // Somebody who types a password may take any time.
    const cancel = isInteractive
      ? () => {}
      : clock.after(timeoutMs, () => {
          expired = true
          child.kill('SIGKILL')
        })
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.once('error', (error: NodeJS.ErrnoException) => {
      cancel()
      const isMissing = error.code === 'ENOENT'
      reject(
        unavailable(run, isMissing ? 'is not installed' : `cannot be started (${error.code})`, {
          hint: (isMissing ? plugin.installHint : undefined) ?? 'install it, or correct exec.command of the user',
        }),
      )
    })
    child.once('close', (code, signal) => {
      cancel()
      if (code === 0) return resolve(Buffer.concat(chunks).toString('utf8'))
      const problem = expired ? `gave no answer within ${timeoutMs / 1000} s` : `ended with ${code ?? signal}`
      reject(unavailable(run, problem, { hint: 'read what it wrote above, and run it by hand' }))
    })
  })
}

function readCredential(run: ExecRun, output: string): ExecCredential {
  const { apiVersion } = run.plugin
  const answer = parseJson(output)
  if (!isJsonObject(answer) || answer['kind'] !== 'ExecCredential') {
    throw unavailable(run, 'did not print an ExecCredential in JSON', { hint: 'run it by hand and look at its output' })
  }
  if (answer['apiVersion'] !== apiVersion) {
    throw unavailable(run, `answers in another version than ${apiVersion}`, {
      hint: 'set exec.apiVersion of the user to the version the plugin speaks',
    })
  }
  const status = answer['status']
  if (!isJsonObject(status)) {
    throw unavailable(run, 'printed no status', { hint: 'log in with the plugin by hand first' })
  }
  const token = textOf(status, 'token')
  const certificate = textOf(status, 'clientCertificateData')
  const key = textOf(status, 'clientKeyData')
  if ((certificate === undefined) !== (key === undefined)) {
    throw unavailable(run, 'printed a certificate or a key, but not both', { hint: 'update the plugin' })
  }
  if (token === undefined && certificate === undefined) {
    throw unavailable(run, 'printed neither a token nor a certificate', {
      hint: 'log in with the plugin by hand first',
    })
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw unavailable(run, 'printed a token that no header may carry', {
      hint: 'run it by hand and look at its output',
    })
  }
  const expiresAt = Date.parse(textOf(status, 'expirationTimestamp') ?? '')
  return {
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  }
}

function textOf(object: JsonObject, field: string): string | undefined {
  const value = object[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unavailable(run: ExecRun, problem: string, options: { readonly hint: string }): CofferdamError {
  const { connection, plugin } = run
  const message = `${connection.source}: the credential plugin ${plugin.command} ${problem}`
  return new CofferdamError('CREDENTIALS_UNAVAILABLE', message, {
    facts: { command: plugin.command, context: connection.context ?? '' },
    hint: options.hint,
  })
}

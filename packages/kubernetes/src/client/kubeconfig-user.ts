import { dirname, resolve } from 'node:path'
import type { Authentication, ClientCertificate, ExecPlugin, Impersonation } from './cluster-connection.ts'
import type { Environment } from './environment.ts'
import type { KubeconfigFields } from './kubeconfig-fields.ts'

const execGroup = 'client.authentication.k8s.io'
const execVersions = [`${execGroup}/v1`, `${execGroup}/v1beta1`] as const
const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const

interface UserSettings {
  readonly authentication: Authentication
  readonly clientCertificate?: ClientCertificate
  readonly impersonation?: Impersonation
}

export function readUser(
  user: KubeconfigFields,
  { cluster, env }: { readonly cluster: KubeconfigFields; readonly env: Environment },
): UserSettings {
  if (user.has('auth-provider')) {
    const remedy = `use exec with your provider's plugin (kubelogin, gke-gcloud-auth-plugin, ...), or a token`
    throw user.wrong('auth-provider', 'is a way to log in that Kubernetes removed in 1.26', remedy)
  }
  const clientCertificate = readClientCertificate(user)
  const impersonation = readImpersonation(user)
  return {
    authentication: readAuthentication(user, { cluster, env, hasCertificate: clientCertificate !== undefined }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(impersonation === undefined ? {} : { impersonation }),
  }
}

function readAuthentication(
  user: KubeconfigFields,
  { cluster, env, hasCertificate }: { cluster: KubeconfigFields; env: Environment; hasCertificate: boolean },
): Authentication {
  const token = user.text('token')
  const tokenFile = user.path('tokenFile')
  const username = user.text('username')
  const password = user.text('password')
  const hasToken = token !== undefined || tokenFile !== undefined
  if (hasToken && (username !== undefined || password !== undefined)) {
    throw user.wrong('token', 'is there beside a username or password', 'keep one of the two ways to log in')
  }
  if (username !== undefined || password !== undefined) {
    if (username === undefined) throw user.wrong('username', 'is missing beside a password', 'add it')
    return { kind: 'basic', username, password: password ?? '' }
  }
  if (hasToken) {
    return {
      kind: 'token',
      origin: `${user.file}: ${user.place}.tokenFile`,
      ...(token === undefined ? {} : { token: headerSafe(user, 'token', token) }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
    }
  }
  const exec = user.fields('exec')
  // As in kubectl, what is written down goes before what a plugin would have to be asked for.
  if (exec === undefined || hasCertificate) return { kind: 'none' }
  return { kind: 'exec', plugin: readExec(exec, cluster, env) }
}

function headerSafe(user: KubeconfigFields, field: string, value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value
  throw user.wrong(field, 'holds spaces, line ends or letters that no header may carry', 'paste the token again, whole')
}

function readClientCertificate(user: KubeconfigFields): ClientCertificate | undefined {
  const certificate = user.material('client-certificate')
  const key = user.material('client-key')
  if (certificate === undefined && key === undefined) return undefined
  if (key === undefined) throw user.wrong('client-key', 'is missing beside a client-certificate', 'add it')
  if (certificate === undefined) throw user.wrong('client-certificate', 'is missing beside a client-key', 'add it')
  return { certificate, key }
}

function readExec(exec: KubeconfigFields, cluster: KubeconfigFields, env: Environment): ExecPlugin {
  const versions = execVersions.join(' or ')
  const apiVersion = exec.requiredText('apiVersion', `write ${versions}, whichever the plugin speaks`)
  if (!isOneOf(apiVersion, execVersions)) {
    throw exec.wrong('apiVersion', `must be ${versions}`, 'update the plugin and this entry')
  }
  const written = exec.text('interactiveMode') ?? (apiVersion === execVersions[1] ? 'IfAvailable' : undefined)
  if (written === undefined || !isOneOf(written, interactiveModes)) {
    const problem = `must be ${interactiveModes.join(', ')}`
    throw exec.wrong('interactiveMode', problem, 'write IfAvailable when you do not know')
  }
  const command = exec.requiredText('command', 'name the program that hands out the credentials')
  const installHint = exec.text('installHint')
  const clusterConfig = cluster
    .list('extensions')
    .find((extension) => extension.text('name') === `${execGroup}/exec`)
    ?.raw('extension')
  return {
    apiVersion,
    // A bare name is looked up in PATH; anything with a slash is meant relative to the kubeconfig.
    command: /[\\/]/.test(command) ? resolve(dirname(exec.file), command) : command,
    args: exec.texts('args'),
    environment: { ...definedOnly(env), ...readEnvironment(exec) },
    interactiveMode: written,
    provideClusterInfo: exec.flag('provideClusterInfo'),
    ...(installHint === undefined ? {} : { installHint }),
    ...(clusterConfig === undefined ? {} : { clusterConfig }),
  }
}

function readEnvironment(exec: KubeconfigFields): Record<string, string> {
  const pairs = exec.list('env').map((entry) => {
    return [entry.requiredText('name', 'name the variable, or remove the entry'), entry.text('value') ?? ''] as const
  })
  return Object.fromEntries(pairs)
}

function readImpersonation(user: KubeconfigFields): Impersonation | undefined {
  const name = user.text('as')
  const uid = user.text('as-uid')
  const groups = user.texts('as-groups')
  const extraFields = user.fields('as-user-extra')
  const extra = Object.fromEntries((extraFields?.names() ?? []).map((key) => [key, extraFields?.texts(key) ?? []]))
  if (name !== undefined) return { user: name, groups, extra, ...(uid === undefined ? {} : { uid }) }
  if (uid === undefined && groups.length === 0 && extraFields === undefined) return undefined
  throw user.wrong('as', 'is missing, but as-uid, as-groups or as-user-extra is there', 'name the user to act as')
}

function definedOnly(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

function isOneOf<T extends string>(value: string, allowed: readonly T[]): value is T {
  return (allowed as readonly string[]).includes(value)
}

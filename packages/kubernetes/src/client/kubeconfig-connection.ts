import { CofferdamError } from '../errors.ts'
import type { ClusterConnection, Material } from './cluster-connection.ts'
import { readText } from './connection-files.ts'
import type { Environment } from './environment.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import type { KubeconfigFields } from './kubeconfig-fields.ts'
import { readUser } from './kubeconfig-user.ts'
import { proxyFromEnvironment } from './proxy-from-environment.ts'

/** What one context of a kubeconfig says, checked as far as it can be without asking the cluster. */
export async function buildConnection(
  config: Kubeconfig,
  { context: wanted, env }: { readonly context: string | undefined; readonly env: Environment },
): Promise<ClusterConnection> {
  const name = wanted ?? config.currentContext
  const files = config.files.join(', ')
  const known = [...config.contexts.keys()]
  if (name === undefined) {
    throw invalid(files, 'current-context', 'is not set', `pass --context NAME; there ${listOf(known)}`)
  }
  const context = config.contexts.get(name)
  if (context === undefined) {
    const field = wanted === undefined ? 'current-context' : 'contexts'
    const problem = wanted === undefined ? `names "${name}", which is not there` : `has no entry "${name}"`
    throw invalid(files, field, problem, `pass --context NAME; there ${listOf(known)}`)
  }
  const cluster = referred(context, 'cluster', config.clusters)
  const user = referred(context, 'user', config.users)
  const connection: ClusterConnection = {
    source: files,
    context: name,
    namespace: readNamespace(context),
    ...readCluster(cluster, env),
    ...readUser(user, { cluster, env }),
  }
  await checkFiles(connection)
  return connection
}

function readCluster(cluster: KubeconfigFields, env: Environment) {
  const server = readServer(cluster)
  const certificateAuthority = cluster.material('certificate-authority')
  const insecureSkipTlsVerify = cluster.flag('insecure-skip-tls-verify')
  if (insecureSkipTlsVerify && certificateAuthority !== undefined) {
    const remedy = 'remove it to have the certificate checked, or remove the certificate-authority to trust anybody'
    throw cluster.wrong('insecure-skip-tls-verify', 'cannot be true beside a certificate-authority', remedy)
  }
  const tlsServerName = cluster.text('tls-server-name')
  const proxyUrl = readProxy(cluster) ?? proxyFromEnvironment(server, env)
  return {
    server: server.href.replace(/\/+$/, ''),
    insecureSkipTlsVerify,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  }
}

function readServer(cluster: KubeconfigFields): URL {
  const remedy = 'write it as https://HOST:PORT'
  const text = cluster.requiredText('server', remedy)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw cluster.wrong('server', 'is not an http or https address', remedy)
  }
  if (url.username !== '' || url.password !== '') {
    throw cluster.wrong('server', 'holds a user name or password', 'move them to username and password of the user')
  }
  if (url.search !== '' || url.hash !== '') throw cluster.wrong('server', 'holds a query or a fragment', remedy)
  return url
}

function readProxy(cluster: KubeconfigFields): string | undefined {
  const text = cluster.text('proxy-url')
  if (text === undefined) return undefined
  const protocol = URL.canParse(text) ? new URL(text).protocol : undefined
  if (protocol === 'http:' || protocol === 'https:') return text
  const problem = protocol === 'socks5:' ? 'asks for a SOCKS proxy, which is not supported' : 'is not an http address'
  throw cluster.wrong('proxy-url', problem, 'name an HTTP proxy that lets CONNECT through, as http://HOST:PORT')
}

function readNamespace(context: KubeconfigFields): string {
  const namespace = context.text('namespace') ?? 'default'
  if (namespace.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(namespace)) return namespace
  throw context.wrong('namespace', 'is not a namespace name', 'use lower-case letters, digits and dashes, 63 at most')
}

function referred(
  context: KubeconfigFields,
  field: 'cluster' | 'user',
  entries: ReadonlyMap<string, KubeconfigFields>,
): KubeconfigFields {
  const remedy = `name one of ${field}s; there ${listOf([...entries.keys()])}`
  const name = context.requiredText(field, remedy)
  const entry = entries.get(name)
  if (entry === undefined) throw context.wrong(field, `names "${name}", which is not there`, remedy)
  return entry
}

/** A wrong path is reported at the start, with the field that holds it, and not by the first request. */
async function checkFiles({ certificateAuthority, clientCertificate, authentication }: ClusterConnection) {
  const materials: (Material | undefined)[] = [
    certificateAuthority,
    clientCertificate?.certificate,
    clientCertificate?.key,
  ]
  for (const material of materials) {
    if (material !== undefined && 'path' in material) await readText(material.path, material.origin)
  }
  if (authentication.kind === 'token' && authentication.tokenFile !== undefined) {
    await readText(authentication.tokenFile, authentication.origin)
  }
}

function invalid(file: string, field: string, problem: string, hint: string): CofferdamError {
  return new CofferdamError('KUBECONFIG_INVALID', `${file}: ${field} ${problem}`, { facts: { file, field }, hint })
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'is none yet'
  return names.length === 1 ? `is ${names[0]}` : `are ${names.join(', ')}`
}

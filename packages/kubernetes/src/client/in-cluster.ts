import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { CofferdamError } from '../errors.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { readText } from './connection-files.ts'
import type { Environment } from './environment.ts'
import { proxyFromEnvironment } from './proxy-from-environment.ts'

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

export function isInCluster(env: Environment): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT'])
}

/** The cluster this pod runs in, as its own service account. The token file is read again as the kubelet renews it. */
export async function connectionInCluster(options: {
  readonly env: Environment
  readonly folder: string | undefined
}): Promise<ClusterConnection> {
  const folder = options.folder ?? defaultFolder
  const host = options.env['KUBERNETES_SERVICE_HOST'] ?? ''
  const port = options.env['KUBERNETES_SERVICE_PORT'] ?? ''
  const source = 'the service account of this pod'
  const tokenFile = join(folder, 'token')
  const caFile = join(folder, 'ca.crt')
  if ((await readText(tokenFile, undefined)) === undefined) {
    throw new CofferdamError('CREDENTIALS_UNAVAILABLE', `${source} has no token: ${tokenFile} does not exist`, {
      facts: { file: tokenFile },
      hint: 'set automountServiceAccountToken: true on the pod or its service account, or pass --kubeconfig FILE',
    })
  }
  await readText(caFile, `the certificate authority of ${source}`)
  const namespace = (await readText(join(folder, 'namespace'), undefined))?.trim()
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  const proxyUrl = proxyFromEnvironment(new URL(server), options.env)
  return {
    source,
    namespace: namespace || 'default',
    server,
    certificateAuthority: { path: caFile, origin: `${source}: ca.crt` },
    insecureSkipTlsVerify: false,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    authentication: { kind: 'token', origin: `${source}: token`, tokenFile },
  }
}

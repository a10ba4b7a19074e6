import { writeFile } from 'node:fs/promises'

export interface KubeconfigContent {
  readonly path: string
  readonly server: string
  /** In PEM. */
  readonly authority: string
  readonly token: string
  readonly namespace?: string
}

/** Writes a kubeconfig that needs no other file, and returns its path. */
export async function writeKubeconfig(content: KubeconfigContent): Promise<string> {
  const { path, server, authority, token, namespace = 'default' } = content
  const certificate = Buffer.from(authority).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'lab',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': certificate } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'user', namespace } }],
  }
  // JSON is YAML.
  await writeFile(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 })
  return path
}

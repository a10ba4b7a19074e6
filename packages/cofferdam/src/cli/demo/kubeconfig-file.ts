import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { dump } from 'js-yaml'

const contextName = 'cofferdam-demo'
/** A demo that was killed leaves this folder behind; the next one that ends well takes it away. */
const ownFolder = '.cofferdam'
const marker = '# Written by `cofferdam demo`, and removed when it ends.\n'

export interface KubeconfigFile {
  readonly path: string
  /** Takes the file away again, with the folders that were made for it, unless somebody has changed them since. */
  remove(): Promise<void>
}

interface Credentials {
  /** By which the server is known, in PEM. */
  readonly certificateAuthority?: string
  /** By which the server knows its user. */
  readonly token?: string
}

/**
 * Writes a kubeconfig for the embedded cluster.
 *
 * Fails closed: a file that some other program or person wrote is never overwritten.
 */
export async function writeKubeconfig(
  path: string,
  server: string,
  credentials: Credentials = {},
): Promise<KubeconfigFile> {
  const file = resolve(path)
  const text = kubeconfigText(server, credentials)
  const before = await readIfThere(file)
  if (before !== undefined && !before.startsWith(marker)) {
    throw new CofferdamError('USAGE', `${path} is there already and was not written by a demo; it stays as it is`, {
      facts: { path },
      hint: 'choose another place with --kubeconfig-out',
    })
  }
  try {
    const firstMade = await mkdir(dirname(file), { recursive: true })
    const ours = firstMade ?? (basename(dirname(file)) === ownFolder ? dirname(file) : undefined)
    await writeFile(file, text, { mode: 0o600 })
    return { path: file, remove: () => removeFile(file, text, ours) }
  } catch (cause) {
    throw new CofferdamError('FILE_UNWRITABLE', `cannot write the kubeconfig ${path}: ${(cause as Error).message}`, {
      facts: { path },
      hint: 'choose another place with --kubeconfig-out',
      cause,
    })
  }
}

function kubeconfigText(server: string, { certificateAuthority, token }: Credentials): string {
  const trust =
    certificateAuthority === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: contextName, cluster: { server, ...trust } }],
    users: [{ name: contextName, user: token === undefined ? {} : { token } }],
    contexts: [{ name: contextName, context: { cluster: contextName, user: contextName, namespace: 'default' } }],
    'current-context': contextName,
  }
  return marker + dump(config)
}

async function removeFile(file: string, written: string, topFolder: string | undefined): Promise<void> {
  if ((await readIfThere(file)) !== written) return
  await rm(file, { force: true })
  if (topFolder === undefined) return
  for (let folder = dirname(file); folder.startsWith(topFolder); folder = dirname(folder)) {
    // A folder that is not empty holds something of somebody else.
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isGone) return
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CofferdamError('FILE_UNREADABLE', `cannot read ${file}: ${(error as Error).message}`, {
      facts: { path: file },
      hint: 'choose another place with --kubeconfig-out',
      cause: error,
    })
  }
}

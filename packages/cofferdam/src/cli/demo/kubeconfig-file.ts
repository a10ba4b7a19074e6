import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, dirname, resolve } from 'node:path'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { dump } from 'js-yaml'

const answersWithinMs = 2_000
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
 * Fails closed: a file that some other program or person wrote is never overwritten, and neither is that of a demo that still runs.
 * With `mayChoose`, the file is then another one in the same folder.
 */
export async function writeKubeconfig(
  path: string,
  server: string,
  { mayChoose = false, ...credentials }: Credentials & { readonly mayChoose?: boolean } = {},
): Promise<KubeconfigFile> {
  for (let count = 1; ; ) {
    const tried = count === 1 ? path : `${path}-${count}`
    const file = resolve(tried)
    const before = await readIfThere(file)
    const owner = before === undefined ? undefined : await observeOwner(before, server)
    if (owner === undefined) {
      const text = kubeconfigText(server, credentials)
      const written = await writeInPlaceOf(before, file, { path: tried, text })
      if (written !== undefined) return written
    } else if (mayChoose) count += 1
    else {
      throw new CofferdamError('USAGE', `${tried} is there already and ${owner}; it stays as it is`, {
        facts: { path: tried },
        hint: 'choose another place with --kubeconfig-out',
      })
    }
  }
}

/** Says whose file it is, if it must stay. */
async function observeOwner(text: string, ownServer: string): Promise<string | undefined> {
  if (!text.startsWith(marker)) return 'was not written by a demo'
  const server = /^\s*server: *(\S+)$/m.exec(text)?.[1] ?? ''
  // A demo that was killed had the port that this one has now.
  if (server === ownServer || !(await isListening(server))) return undefined
  return `belongs to another demo, which runs at ${server}`
}

/** Undefined: another demo was faster. */
async function writeInPlaceOf(
  before: string | undefined,
  file: string,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<KubeconfigFile | undefined> {
  try {
    const firstMade = await mkdir(dirname(file), { recursive: true })
    const ours = firstMade ?? (basename(dirname(file)) === ownFolder ? dirname(file) : undefined)
    if (before !== undefined && (await readIfThere(file)) === before) await rm(file, { force: true })
    // Of two that begin together only one makes the file.
    await writeFile(file, text, { mode: 0o600, flag: 'wx' })
    return { path: file, remove: () => removeFile(file, text, ours) }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw new CofferdamError('FILE_UNWRITABLE', `cannot write the kubeconfig ${path}: ${(cause as Error).message}`, {
      facts: { path },
      hint: 'choose another place with --kubeconfig-out',
      cause,
    })
  }
}

/** Whether anything answers at the address; what cannot be parsed has no server. */
function isListening(server: string): Promise<boolean> {
  if (!URL.canParse(server)) return Promise.resolve(false)
  const { hostname, port } = new URL(server)
  return new Promise((answer) => {
    const socket = connect({ host: hostname, port: Number(port), timeout: answersWithinMs })
    const end = (isThere: boolean) => {
      socket.destroy()
      answer(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    // A machine that is too busy to answer may well have a demo.
    socket.once('timeout', () => end(true))
  })
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

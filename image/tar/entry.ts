/** One path of an image. Owner and time are no part of it: all belongs to root, and nothing has an age. */
export type Entry =
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly content: Buffer }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }

export const fileOf = (path: string, text: string | Buffer, mode = 0o644): Entry => ({
  kind: 'file',
  path,
  mode,
  content: Buffer.from(text),
})

export const folderOf = (path: string, mode = 0o755): Entry => ({ kind: 'folder', path, mode })

export const linkOf = (path: string, target: string): Entry => ({ kind: 'link', path, target })

/**
 * The entries in the one order that a layer has them in, each behind the folders that it is in. The first of several with the same path
 * counts.
 */
export function arrange(entries: readonly Entry[]): Entry[] {
  const byPath = new Map<string, Entry>()
  for (const entry of entries) if (!byPath.has(entry.path)) byPath.set(entry.path, entry)
  for (const { path } of entries) {
    const names = path.split('/').slice(0, -1)
    for (const [index] of names.entries()) {
      const parent = names.slice(0, index + 1).join('/')
      if (!byPath.has(parent)) byPath.set(parent, folderOf(parent))
    }
  }
  return [...byPath.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

/**
 * How a program is called that sees a folder in the place of another.
 *
 * Guarantees: the mount is seen by that program and its children alone, and is gone with them. The shell and unshare
 * replace themselves, so the process that was started is the program, and a parent-death signal set before still holds.
 */
export function withFolderAt(
  { folder, at }: { readonly folder: string; readonly at: string },
  ...command: readonly [string, ...string[]]
): readonly [string, ...string[]] {
  const rights = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const enter = 'mount --bind "$0" "$1" && shift && exec "$@"'
  return ['unshare', ...rights, '--mount', '--propagation', 'private', 'sh', '-c', enter, folder, at, ...command]
}

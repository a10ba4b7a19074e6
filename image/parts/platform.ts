/** As image indexes and Debian call it. */
export type Architecture = 'amd64' | 'arm64'

export const architectures: readonly Architecture[] = ['amd64', 'arm64']

/** The architecture of this machine, as Node.js calls it, in the words of images. */
export function architectureOf(arch: string): Architecture {
  if (arch === 'x64') return 'amd64'
  if (arch === 'arm64') return 'arm64'
  throw new Error(`there is no image for ${arch}; there are: ${architectures.join(', ')}`)
}

import { posix } from 'node:path'

/** Where a file of the repository is on the site: documents by their name, everything else as it is, below files/. */
export function addressOf(file: string): string {
  if (isPage(file))
    return file
      .replace(/^docs\//, '')
      .toLowerCase()
      .replace(/(^|\/)readme\.md$/, '$1index.md')
      .replace(/md$/, 'html')
  if (isPicture(file)) return file.replace(/^docs\//, '')
  return `files/${file}.html`
}

/** A folder has a page that lists what is in it. */
export function addressOfFolder(folder: string): string {
  return folder.startsWith('docs/') ? `${folder.slice('docs/'.length)}/index.html` : `files/${folder}/index.html`
}

export function isPage(file: string): boolean {
  return file.endsWith('.md') && (file.startsWith('docs/') || !file.includes('/'))
}

export function isPicture(file: string): boolean {
  return /\.(png|svg|jpe?g|webp)$/.test(file)
}

/** From one page to another. Relative, so that the site works below any path, and from a folder without a server. */
export function relativeAddress(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to)
}

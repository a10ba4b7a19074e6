import { posix } from 'node:path'

/** The same for what was built: `files` are all of the site, with their text where they are HTML. */
export function findBrokenAddresses(files: ReadonlyMap<string, string>): string[] {
  const names = new Map([...files].map(([file, html]) => [file, valuesOf(html, 'id')]))
  return [...files].flatMap(([file, html]) =>
    [...valuesOf(html, 'href'), ...valuesOf(html, 'src')].flatMap((address) => {
      if (/^[a-z]+:/.test(address)) return []
      const [path = '', name = ''] = address.split('#', 2)
      const target = path === '' ? file : posix.join(posix.dirname(file), path)
      const found = names.get(target)
      if (found === undefined) return [`${file} → ${address}: there is no such file`]
      return name === '' || found.has(name) ? [] : [`${file} → ${address}: there is no such heading`]
    }),
  )
}

function valuesOf(html: string, attribute: string): Set<string> {
  const found = html.matchAll(new RegExp(`<[a-z][^>]*? ${attribute}="([^"]*)"`, 'g'))
  return new Set([...found].map(([, value = '']) => value.replaceAll('&amp;', '&')))
}

import type { ParsedPage } from '../markdown/parse-page.ts'

/** Every link and picture of the documents that leads to no file, or to no heading. `isThere` knows files and folders. */
export function findBrokenLinks(pages: readonly ParsedPage[], isThere: (path: string) => boolean): string[] {
  const anchors = new Map(pages.map(({ file, headings }) => [file, new Set(headings.map(({ anchor }) => anchor))]))
  return pages.flatMap(({ file, links, pictures }) =>
    [...links, ...pictures].flatMap((target) => {
      if (!anchors.has(target.file) && !isThere(target.file)) return [`${file} → ${target.href}: there is no such file`]
      if (target.anchor === '' || anchors.get(target.file)?.has(target.anchor)) return []
      return [`${file} → ${target.href}: there is no such heading`]
    }),
  )
}

import { posix } from 'node:path'

export interface NavigationPage {
  readonly file: string
  readonly title: string
}

export interface NavigationSection {
  readonly title: string
  readonly pages: readonly NavigationPage[]
}

/** Folders in the order in which a reader needs them, with pages that come before others. A folder that is not here comes behind them by its own name. */
const folders: readonly { readonly folder: string; readonly title: string; readonly first: readonly string[] }[] = [
  {
    folder: 'docs/guide',
    title: 'Guides',
    first: [
      'getting-started',
      'install',
      'plain-nodes',
      'rook',
      'longhorn',
      'openshift',
      'migration',
      'upgrade',
      'uninstall',
    ],
  },
  { folder: 'docs/runbook', title: 'Runbooks', first: ['README'] },
  { folder: 'docs', title: 'Topics', first: [] },
  { folder: 'docs/tools', title: 'Other tools', first: ['README'] },
  { folder: 'docs/reference', title: 'Reference', first: [] },
  { folder: 'docs/security', title: 'Security', first: [] },
  { folder: 'docs/decisions', title: 'Decisions', first: [] },
]

/** All pages, by their folders; those beside the README are about the project, and come last. */
export function buildNavigation(pages: readonly NavigationPage[]): NavigationSection[] {
  const byFolder = groupByFolder(pages)
  const known = folders.map(({ folder }) => folder)
  const others = [...byFolder.keys()].filter((folder) => folder !== '.' && !known.includes(folder)).sort()
  const about = (byFolder.get('.') ?? []).filter(({ file }) => file !== 'README.md')
  return [
    ...folders.map(({ folder, title, first }) => ({ title, pages: inOrder(byFolder.get(folder) ?? [], first) })),
    ...others.map((folder) => ({ title: titleOf(folder), pages: inOrder(byFolder.get(folder) ?? [], []) })),
    { title: 'Project', pages: inOrder(about, []) },
  ].filter(({ pages: found }) => found.length > 0)
}

/** Numbered files by their number, others by their title. */
function inOrder(pages: readonly NavigationPage[], first: readonly string[]): NavigationPage[] {
  const rank = ({ file }: NavigationPage) => {
    const place = first.indexOf(posix.basename(file, '.md'))
    return place === -1 ? first.length : place
  }
  const key = ({ file, title }: NavigationPage) => (/^\d/.test(posix.basename(file)) ? file : title.toLowerCase())
  return [...pages].sort((one, other) => rank(one) - rank(other) || key(one).localeCompare(key(other)))
}

function titleOf(folder: string): string {
  const name = folder.replace(/^docs\//, '').replaceAll('-', ' ')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function groupByFolder(pages: readonly NavigationPage[]): Map<string, NavigationPage[]> {
  const groups = new Map<string, NavigationPage[]>()
  for (const page of pages) {
    const folder = posix.dirname(page.file)
    groups.set(folder, [...(groups.get(folder) ?? []), page])
  }
  return groups
}

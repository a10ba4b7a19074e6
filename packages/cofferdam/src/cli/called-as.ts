import { basename, dirname, isAbsolute, relative } from 'node:path'

export interface HowCalled {
  /** The script as it was started: `/usr/local/bin/kubectl-cofferdam`. */
  readonly script: string
  /** The launcher of this program: `/home/ann/cofferdam/bin/cofferdam.js`. */
  readonly launcher: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What to type to call this program again from where the user is: `cofferdam`, where it is installed. */
export function calledAs({ script, launcher, cwd, environment }: HowCalled): string {
  if (basename(script).startsWith('kubectl-')) return 'kubectl cofferdam'
  if (environment['npm_command'] === 'exec') return 'npx cofferdam'
  // An image starts the bundle itself, from the root of everything, and has no launcher.
  if (basename(script) === basename(launcher) && basename(dirname(script)) !== 'bin') return 'cofferdam'
  // In a clone nothing is installed, and the launcher is called by its path.
  const path = relative(cwd, launcher)
  const isInClone = !path.startsWith('..') && !isAbsolute(path) && !path.includes('node_modules')
  return isInClone ? `node ${path}` : 'cofferdam'
}

/** Makes every command in a text one that works: `cofferdam explain …` as this program was called. */
export function asCalled(text: string, called: string, commands: readonly string[]): string {
  if (called === 'cofferdam' || commands.length === 0) return text
  const hint = new RegExp(`(?<![\\w./-])(?<!npx |kubectl )cofferdam (?=(?:${commands.join('|')})\\b)`, 'g')
  return text.replaceAll(hint, () => `${called} `)
}

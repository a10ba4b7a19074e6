import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where parts are kept between runs, outside the checkout: a fresh clone finds them too. */
export function cacheFolder(name: string, environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'cofferdam', 'lab', `${name}-${process.arch}`)
}

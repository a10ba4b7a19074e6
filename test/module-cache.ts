import { mkdirSync } from 'node:fs'

/**
 * Vitest removes its cache of compiled modules when the lock file has changed, and does not make the folder again: without it the first
 * run after an update of a dependency fails, and only the second passes.
 */
export default function keepModuleCache(): void {
  mkdirSync('node_modules/.experimental-vitest-cache', { recursive: true })
}

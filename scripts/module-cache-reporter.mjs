// Vitest removes its folder of compiled modules when the lock file has changed, and does not make it again: without it the first run after
// an update of a dependency fails, and only the second passes. A reporter is the first of ours that runs after that.
import { mkdirSync } from 'node:fs'

export default class ModuleCacheReporter {
  onInit() {
    mkdirSync('node_modules/.experimental-vitest-cache', { recursive: true })
  }
}

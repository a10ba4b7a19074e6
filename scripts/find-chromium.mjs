// Where the browser for the tests of the page is, if there is one.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** `$CHROMIUM`, or the first browser of a known name in the search path. */
export function findChromium({ CHROMIUM, PATH = '' } = process.env) {
  if (CHROMIUM) return CHROMIUM
  const places = names.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

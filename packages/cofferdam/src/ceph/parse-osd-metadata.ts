import type { Observed } from '../shared/observed.ts'
import { countAt, listAt, objectAt, observeShape } from './json-shape.ts'

/** Reads `osd metadata`: on which host each OSD last ran. One that never booted names none, and is left out. */
export function parseOsdMetadata(json: unknown): Observed<ReadonlyMap<number, string>> {
  return observeShape('osd metadata', () => {
    const hosts = new Map<number, string>()
    listAt(json, 'osd metadata').forEach((value, index) => {
      const where = `osd metadata[${index}]`
      const osd = objectAt(value, where)
      const host = osd['hostname']
      if (typeof host === 'string' && host !== '') hosts.set(countAt(osd['id'], `${where}.id`), host)
    })
    return hosts
  })
}

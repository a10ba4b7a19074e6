import { type CommandTable, errno, failed, texts } from './answer-parts.ts'
import type { CephAnswer, CephCommand } from './ceph-commands.ts'
import type { CephState } from './ceph-state.ts'
import { crushTypes } from './crush-types.ts'
import type { CrushLocation } from './grow-crush.ts'

export interface CrushEffects {
  /** An OSD belongs to other buckets; what is placed by them moves. */
  relocated(osd: number, location: CrushLocation): void
}

/** `osd crush rule create-replicated` and `osd crush move`. */
export function crushCommands({ map }: CephState, effects: CrushEffects): CommandTable {
  function createRule(command: CephCommand): CephAnswer {
    const [[name = ''], [type = ''], [deviceClass]] = [command['name'], command['type'], command['class']].map(
      texts,
    ) as [string[], string[], string[]]
    const { tree } = map
    if (tree.rules.some((rule) => rule.name === name)) return { code: 0, out: '', err: `rule ${name} already exists` }
    if (!crushTypes.includes(type)) return failed(errno.invalid, `unknown type ${type}`)
    if (deviceClass !== undefined && !tree.deviceClasses.includes(deviceClass))
      return failed(errno.invalid, `device class ${deviceClass} does not exist`)
    const id = Math.max(...tree.rules.map((rule) => rule.id)) + 1
    const rule = { id, name, kind: 'replicated', failureDomain: type, deviceClass } as const
    map.replaceTree({ ...tree, rules: [...tree.rules, rule] })
    return { code: 0, out: '', err: '' }
  }

  /** Of an OSD: hosts and racks stay where they are. */
  function move(command: CephCommand): CephAnswer {
    const [name = ''] = texts(command['name'])
    const item = map.tree.byName.get(name)
    if (item === undefined) return failed(errno.noEntry, `item ${name} does not exist`)
    if (item.type !== 'osd') return failed(errno.invalid, `${name} is no OSD`)
    const location = Object.fromEntries(texts(command['args']).map((text) => text.split('=', 2)))
    if (Object.keys(location).some((type) => !crushTypes.includes(type)))
      return failed(errno.invalid, `unknown type in ${JSON.stringify(location)}`)
    effects.relocated(item.id, location)
    return { code: 0, out: '', err: `moved item id ${item.id} name '${name}' to location in crush map` }
  }

  return { 'osd crush rule create-replicated': createRule, 'osd crush move': move }
}

import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CephParts } from '../parts/parts.ts'

/** Modules that a manager insists on. What we ask it for is not in them but in the manager itself. */
const alwaysOn = [
  'balancer',
  'crash',
  'devicehealth',
  'orchestrator',
  'pg_autoscaler',
  'progress',
  'rbd_support',
  'status',
  'telemetry',
  'volumes',
]

/** Fills the folder with modules that are there and rest: a manager without them would be three times as large and as slow. */
export async function writeManagerModules(parts: CephParts, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const files = (await readdir(parts.managerModules)).filter((name) => name.endsWith('.py') && name !== 'mgr_util.py')
  await Promise.all([
    writeFile(join(folder, 'mgr_util.py'), utilText),
    ...files.map((name) => cp(join(parts.managerModules, name), join(folder, name))),
    ...alwaysOn.map(async (name) => {
      await mkdir(join(folder, name))
      await writeFile(join(folder, name, '__init__.py'), 'from .module import Module\n')
      await writeFile(join(folder, name, 'module.py'), moduleText(parts, name))
    }),
  ])
}

/**
 * All that `mgr_module.py` takes from it. The real one loads libraries that cannot be loaded once for each module, and the
 * manager would complain of that in `health`.
 */
const utilText = `def profile_method(skip_attribute=False):
    return lambda method: method
`

/** From 20 on each module registers commands under a type of its own. */
function moduleText({ release }: CephParts, name: string): string {
  if (release !== '20') {
    return 'from mgr_module import MgrModule\n\n\nclass Module(MgrModule):\n    NOTIFY_TYPES = []\n'
  }
  return `from mgr_module import CLICommandBase, MgrModule

CLICommand = CLICommandBase.make_registry_subtype('${name}Resting')


class Module(MgrModule):
    CLICommand = CLICommand
    NOTIFY_TYPES = []
`
}

import { existsSync } from 'node:fs'
import { mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

const mounted = '/sys/fs/cgroup'
const prefix = 'cofferdam-lab-'

/** Each controller has a tree of its own (v1), or all share one (v2). */
async function trees(): Promise<readonly string[]> {
  if (existsSync(join(mounted, 'cgroup.controllers'))) return [mounted]
  return (await readdir(mounted)).map((name) => join(mounted, name))
}

/**
 * Makes the group that everything of one node runs in, and returns its name in every tree. The owner is the process outside of the namespaces that
 * ends with the run: groups are the one thing that no namespace takes away.
 */
export async function makeCgroup(owner: number, node: string): Promise<string> {
  const name = `/${prefix}${owner}/${node}`
  for (const tree of await trees()) await mkdir(join(tree, name), { recursive: true })
  return name
}

/** Removes the groups of owners that are gone. Assumes: called outside of a run's own process namespace. */
export async function sweepCgroups(): Promise<void> {
  for (const tree of await trees()) {
    for (const name of (await readdir(tree)).filter((each) => each.startsWith(prefix))) {
      if (existsSync(`/proc/${name.slice(prefix.length)}`)) continue
      await removeTree(join(tree, name))
    }
  }
}

/** A group holds files that cannot be deleted; it goes when it has no group in it. */
async function removeTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await removeTree(join(folder, entry.name))
  await rmdir(folder)
}

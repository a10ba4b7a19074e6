import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * A folder that is kept between builds, outside the checkout.
 *
 * Guarantees: it is there whole or not at all.
 */
export async function cachedFolder(
  name: string,
  fill: (folder: string) => Promise<void>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const root = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const folder = join(root, 'cofferdam', 'image', name)
  if (await isThere(folder)) return folder
  await mkdir(dirname(folder), { recursive: true })
  const work = await mkdtemp(`${folder}.filling-`)
  try {
    await fill(work)
    // Another build may have put the same thing there in between.
    await rename(work, folder).catch(async (error: unknown) => {
      if (!(await isThere(folder))) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}

import { readFile } from 'node:fs/promises'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { z } from 'zod'
import { sha256 } from '../../shared/sha256.ts'
import type { DrainPlanFile } from '../plan/drain-plan-file.ts'

/** What carrying out a plan needs of it; newer versions may write more. */
const planFile = z.object({
  waves: z.array(z.array(z.string().min(1)).min(1)),
  observedAt: z.string(),
  asked: z.object({
    intent: z.enum(['Reboot', 'Remove', 'Replace']),
    honourSkipDrain: z.boolean(),
    accepts: z.array(z.enum(['force', 'deleteEmptyDirData'])),
  }),
})

export interface PlanToCarryOut extends Pick<DrainPlanFile, 'waves' | 'asked' | 'observedAt'> {
  /** The same for the same plan: its requests are found again by it. */
  readonly id: string
}

const hint = 'cofferdam plan drain --all -o json > plan.json makes a plan'

/** @throws CofferdamError where the file is not there, or is not what `cofferdam plan drain -o json` prints */
export async function readPlanFile(path: string): Promise<PlanToCarryOut> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new CofferdamError('USAGE', `${path} cannot be read: ${(error as Error).message}`, { hint, cause: error })
  }
  const parsed = planFile.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.') ?? ''
    throw new CofferdamError('USAGE', `${path} is no plan of a drain: ${where} ${issue?.message ?? ''}`, { hint })
  }
  const { waves, asked, observedAt } = parsed.data
  const nodes = waves.flat()
  if (new Set(nodes).size < nodes.length) {
    throw new CofferdamError('USAGE', `${path} is no plan of a drain: a node is in it twice`, { hint })
  }
  return { waves, asked, observedAt, id: sha256(JSON.stringify([waves, asked, observedAt])).slice(0, 10) }
}

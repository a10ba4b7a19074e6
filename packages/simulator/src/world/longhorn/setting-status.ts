import { type LonghornSetting, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { type ActorTools, writeStatus } from '../actor.ts'

/** Says of every setting that it is in force: nothing here waits for volumes to be detached. */
export function startSettingStatus({
  tools,
  namespace,
}: {
  readonly tools: ActorTools
  readonly namespace: string
}): void {
  const settings = tools.views.of(longhornSettings)
  const queue = tools.queue({ needs: [settings], work: reconcile })

  async function reconcile(key: string): Promise<void> {
    const setting: LonghornSetting | undefined = settings.get(key)
    if (setting === undefined || setting.status?.applied === true) return
    await writeStatus(tools, longhornSettings, setting, { applied: true })
  }

  tools.onStop(
    settings.subscribe(({ key, after }) => {
      if (after?.metadata.namespace === namespace && after.status?.applied !== true) queue.add(key)
    }),
  )
}

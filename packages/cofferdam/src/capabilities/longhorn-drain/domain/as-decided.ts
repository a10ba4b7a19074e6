import type { LonghornSnapshot } from './snapshot.ts'

/** What whoever decides goes by. Where that is Longhorn alone, it knows no policy of one volume, no intent, and no trigger but a cordon. */
export function asDecided(snapshot: LonghornSnapshot): LonghornSnapshot {
  if (snapshot.settings.mode !== 'observe') return snapshot
  return {
    ...snapshot,
    settings: { ...snapshot.settings, trigger: 'cordon' },
    volumes: snapshot.volumes.map((each) => (each.policy === undefined ? each : { ...each, policy: undefined })),
    nodes: snapshot.nodes.map((each) => (each.intent === undefined ? each : { ...each, intent: undefined })),
  }
}

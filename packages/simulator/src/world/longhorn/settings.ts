import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { Views } from '../actor.ts'
import { defaultSettings } from './longhorn-description.ts'

export interface SettingsReader {
  text(name: string): string
  flag(name: string): boolean
  /** The default's number where the value is none. */
  number(name: string): number
}

/** The settings as they are now. `defaults`: what counts where there is no object. */
export function createSettingsReader(
  views: Views,
  { namespace, defaults = defaultSettings }: { namespace: string; defaults?: Readonly<Record<string, string>> },
): SettingsReader {
  const text = (name: string) => views.of(longhornSettings).get(`${namespace}/${name}`)?.value ?? defaults[name] ?? ''
  return {
    text,
    flag: (name) => text(name) === 'true',
    number(name) {
      const value = Number(text(name))
      return Number.isFinite(value) ? value : Number(defaults[name])
    },
  }
}

import { dump } from 'js-yaml'
import { harmlessJson, harmlessText } from '../shared/harmless-text.ts'

/** Data for programs: nothing is lost, and nothing in it reaches a terminal raw. */
export function renderData(data: unknown, format: 'json' | 'yaml'): string {
  if (format === 'json') return harmlessJson(JSON.stringify(data, null, 2))
  const text = dump(data).trimEnd()
  const isHarmless = text.split('\n').every((line) => harmlessText(line) === line)
  // It leaves overrides of direction raw, which only JSON can escape anywhere; all JSON is YAML.
  return isHarmless ? text : renderData(data, 'json')
}

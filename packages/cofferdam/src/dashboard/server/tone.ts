export type Tone = 'calm' | 'busy' | 'alarm'

import { cephAnswers } from './ceph-answers.ts'
import type { FuzzTarget } from './fuzz-target.ts'
import { objectsOfOthers } from './objects-of-others.ts'
import { writtenTexts } from './written-texts.ts'

export const targets: Readonly<Record<string, FuzzTarget>> = { ...cephAnswers, ...writtenTexts, ...objectsOfOthers }

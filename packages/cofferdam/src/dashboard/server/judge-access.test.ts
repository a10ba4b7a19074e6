import { describe, expect, it } from 'vitest'
import { judgeUser, tokenUserOf } from './judge-access.ts'

const ann = { username: 'ann', groups: ['ops'] }

type Status = Parameters<typeof tokenUserOf>[0]
const reviews: Record<string, { status: Status; audiences?: readonly string[]; then: object | undefined }> = {
  'a token for the page makes its bearer a user, with their groups': {
    status: { authenticated: true, user: ann, audiences: ['page'] },
    audiences: ['page'],
    then: ann,
  },
  'a token for another audience is refused: its holder did not mean it for the page': {
    status: { authenticated: true, user: ann, audiences: ['vault'] },
    audiences: ['page'],
    then: undefined,
  },
  'a server that says nothing of audiences is not believed: it answers about tokens for itself': {
    status: { authenticated: true, user: ann },
    audiences: ['page'],
    then: undefined,
  },
  'a token for the API server counts where that was asked for': {
    status: { authenticated: true, user: ann },
    then: ann,
  },
  'a token that is not known is refused': { status: { user: {}, error: 'invalid bearer token' }, then: undefined },
  'a bearer without a name is refused: any binding would be compared with nothing': {
    status: { authenticated: true, user: { username: '', groups: ['ops'] } },
    then: undefined,
  },
  'a review without an answer is refused': { status: undefined, then: undefined },
}

describe('the user of a token', () => {
  for (const [sentence, { status, audiences, then }] of Object.entries(reviews)) {
    it(sentence, () => expect(tokenUserOf(status, audiences)).toEqual(then))
  }
})

const rights: Record<string, { status: Parameters<typeof judgeUser>[1]; then: string }> = {
  'is admitted with the right': { status: { allowed: true }, then: 'admitted' },
  'is refused without it': { status: { allowed: false }, then: 'forbidden' },
  'is refused where one authorizer allows and another denies': {
    status: { allowed: true, denied: true },
    then: 'forbidden',
  },
  'is refused when the review has no answer': { status: undefined, then: 'forbidden' },
}

describe('a user who would see the page', () => {
  for (const [sentence, { status, then }] of Object.entries(rights)) {
    it(sentence, () => expect(judgeUser(ann, status)).toEqual({ kind: then, user: 'ann' }))
  }
})

/** Targets of tracked mail: the redirect of a link, and the image that reports opens. Unauthenticated. */
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { html } from '../../pages/layout/html.ts'
import { page } from '../../pages/layout/layout.ts'
import type { RestCore } from '../rest-core.ts'
import { unlisted } from './unlisted-headers.ts'

const tags = ['tracking']
/** Without a length limit, so that every invalid token gets the same response as an unknown one. */
const params = z.strictObject({ token: z.string() })
/** Allows parameters added by programs between sender and reader; they are ignored. */
const query = z.looseObject({})

/** One transparent pixel: 43 octets of GIF89a. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/** Operations rather than actions: a redirect and an image for unauthenticated visitors who follow links in messages. */
export const trackingOperations: readonly Operation<RestCore>[] = [
  operation({
    method: 'GET',
    path: '/t/c/{token}',
    operationId: 'followLink',
    summary: 'Follow a tracked link',
    description: 'Redirects to the original URL of the link in the message, and never elsewhere. The trace records the click.',
    tags,
    scope: 'none',
    status: 302,
    otherResponses: { 404: 'A page with the next step: the link is not from this service, or is incomplete.' },
    params,
    query,
    response: media('text/html'),
    handle({ core, params: { token }, headOnly }) {
      const target = core.engagements.click(token, !headOnly)
      return target === undefined ? lost : raw('', { contentType: 'text/html', headers: { ...unlisted, location: target } })
    },
  }),
  operation({
    method: 'GET',
    path: '/t/o/{token}',
    operationId: 'getPixel',
    summary: 'Get the open-tracking image',
    tags,
    scope: 'none',
    errors: ['not_found'],
    params,
    query,
    response: media('image/gif'),
    handle({ core, params: { token }, headOnly }) {
      if (!core.engagements.open(token, !headOnly)) throw new Refusal('not_found', 'Unknown image.')
      return raw(pixel, { contentType: 'image/gif', headers: unlisted })
    },
  }),
]

const lost: Answer = page({
  title: 'Link not found',
  status: 404,
  headers: unlisted,
  content: html`<div class="sheet">
    <h1>This link does not work</h1>
    <p>It may have been cut off or changed on its way. Go back to the message and follow the link there, or ask its sender.</p>
  </div>`,
})

/** The List-Unsubscribe page and its one-click form. Opening the link changes nothing; only the click does (RFC 8058 §3.2). */
import type { IncomingHttpHeaders } from 'node:http'
import { byLanguage } from '#config/texts/formats.ts'
import * as z from 'zod'
import { invalid } from '#core/refusals.ts'
import type { Subscription } from '#core/feedback/suppression/unsubscribes.ts'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { media, type Answer } from '../../operation/answer.ts'
import { streamed, type BodyStream } from '../../bodies/body-stream.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { html } from '../../pages/layout/html.ts'
import { pageMessages } from '../../catalogs/page-messages.ts'
import type { PageCatalogs } from '../../catalogs/pages/pages-catalogs.ts'
import { languageOf, type Language } from '../../pages/layout/language.ts'
import { page } from '../../pages/layout/layout.ts'
import { publicRefusalPage } from '../../pages/layout/refusal-page.ts'
import { project } from '../../wire/fields/paging.ts'
import { line } from '../../wire/fields/text.ts'
import { unsubscribe } from '../../wire/feedback/unsubscribe.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['suppressions']
const unsubscribes = resource('/v1/unsubscribes', { name: 'Unsubscribe', tags, graphql: true })
const params = z.strictObject({ token: z.string().min(1).max(200).toLowerCase() })
const click = z.string().meta({ description: 'List-Unsubscribe=One-Click' })
const maxFormBytes = 4096

/** Pages for people, and a form that mail clients post (RFC 8058 §3.1). */
const clicking: readonly Operation<RestCore>[] = [
  operation({
    method: 'GET',
    path: '/unsubscribe/{token}',
    operationId: 'showUnsubscribe',
    summary: 'Show the unsubscribe page',
    tags,
    scope: 'none',
    errorRenderer: publicRefusalPage,
    errors: ['not_found'],
    params,
    response: media('text/html'),
    handle: async ({ core, params: { token }, headers }) => question(await core.unsubscribes.look(token), token, headers),
  }),
  operation({
    method: 'POST',
    path: '/unsubscribe/{token}',
    operationId: 'unsubscribe',
    summary: 'Unsubscribe a recipient with one click',
    description: 'Removes the recipient from the list of the message, see `GET /v1/unsubscribes`. Idempotent.',
    tags,
    scope: 'none',
    errorRenderer: publicRefusalPage,
    errors: ['not_found'],
    maxBodyBytes: maxFormBytes,
    params,
    body: streamed({ 'application/x-www-form-urlencoded': click, 'multipart/form-data': click }),
    response: media('text/html'),
    async handle({ core, params: { token }, body, headers }) {
      await checkClick(body)
      return confirmation(await core.unsubscribes.unsubscribe(token), token, headers)
    },
  }),
  // a forged form needs the link, and the link alone allows both directions, so no other check is needed
  operation({
    method: 'POST',
    path: '/unsubscribe/{token}/undo',
    operationId: 'undoUnsubscribe',
    summary: 'Subscribe a recipient again',
    description: 'Adds the recipient to the list of the message again, see `GET /v1/unsubscribes`. Idempotent.',
    tags,
    scope: 'none',
    errorRenderer: publicRefusalPage,
    errors: ['not_found'],
    params,
    response: media('text/html'),
    async handle({ core, params: { token }, headers }) {
      const subscription = await core.unsubscribes.resubscribe(token)
      return subscription.isUnsubscribed ? confirmation(subscription, token, headers) : undone(subscription, token, headers)
    },
  }),
]

export const unsubscribeActions: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  unsubscribes.list({
    summary: 'List unsubscribes, newest first',
    description: 'A page can contain fewer entries than `limit`, even zero, and still have a next page.',
    filter: {
      project,
      list: line(320, 'The name of a list, or the address of a sender. Case-insensitive.').optional(),
      q: line(320, 'Part of the address. Case-insensitive.').optional(),
    },
    item: unsubscribe,
    run: ({ core, principal }, page) => core.unsubscribes.list(principal, page),
  }),
  unsubscribes.remove({
    summary: 'Delete an unsubscribe',
    description: 'Idempotent. Mail of the list is sent to the address again. Delete it only at the request of the recipient.',
    errors: [],
    run: ({ core, principal }, { id }) => core.unsubscribes.remove(principal, id),
  }),
  ...clicking,
]

/** Requires the single field of RFC 8058 §3.1, in either form encoding. */
async function checkClick({ bytes }: BodyStream): Promise<void> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  const text = Buffer.concat(pieces).toString('latin1')
  if (/(?:^|&)List-Unsubscribe=One-Click(?:&|\s*$)/.test(text)) return
  if (/name="?List-Unsubscribe"?[^]{0,200}?\r\n\r\nOne-Click\r\n/.test(text)) return
  throw invalid([{ path: 'List-Unsubscribe', message: 'must be One-Click (RFC 8058)' }])
}

type Texts = PageCatalogs['unsubscribe']

const textsIn = byLanguage((lang: Language): Texts => pageMessages('unsubscribe', lang))

const question = (subscription: Subscription, token: string, headers: IncomingHttpHeaders): Answer => {
  if (subscription.isUnsubscribed) return confirmation(subscription, token, headers)
  const lang = languageOf(headers)
  const texts = textsIn(lang)
  return page({
    title: texts.act,
    lang,
    letterhead: { heading: texts.question, lead: texts.willEnd(partsOf(subscription, texts)) },
    content: html`<form method="post" action="/unsubscribe/${token}">
        <button name="List-Unsubscribe" value="One-Click">${texts.act}</button>
      </form>
      <p class="fine">${texts.others}</p>`,
  })
}

const confirmation = (subscription: Subscription, token: string, headers: IncomingHttpHeaders): Answer => {
  const lang = languageOf(headers)
  const texts = textsIn(lang)
  return page({
    title: texts.doneTitle,
    lang,
    letterhead: {
      heading: texts.done({ list: subscription.list.name }),
      lead: texts.hasEnded(partsOf(subscription, texts)),
    },
    content: html`<form method="post" action="/unsubscribe/${token}/undo"><button class="quiet">${texts.undo}</button></form>
      <p class="fine">${texts.others} ${texts.close}</p>`,
  })
}

const undone = (subscription: Subscription, token: string, headers: IncomingHttpHeaders): Answer => {
  const lang = languageOf(headers)
  const texts = textsIn(lang)
  return page({
    title: texts.undoneTitle,
    lang,
    letterhead: { heading: texts.undoneTitle, lead: texts.undone(partsOf(subscription, texts)) },
    content: html`<p>${texts.close}</p>
      <p class="decision"><a class="button quiet" href="/unsubscribe/${token}">${texts.act}</a></p>`,
  })
}

/** Omits the name of a list that is identified by its sender. */
const partsOf = ({ recipient, list, sender }: Subscription, texts: Texts) => ({
  recipient,
  sender,
  list: texts.list({ name: list.name === sender ? undefined : list.name }),
})

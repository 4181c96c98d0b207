/** Virtual inboxes of an organization, their messages and the linked traces, for members. */
import type { Projects } from '#core/administration/projects.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { CaptureSummary, Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { Inbox } from '#core/capture/capture.ts'
import type { Probes } from '#core/delivery/probe/probes.ts'
import { Refusal } from '#core/refusals.ts'
import type { TraceReader } from '#core/trace/timeline/trace-reader.ts'
import { approvalPath } from '#core/trace/approval/asked.ts'
import { timelineEntries } from '#core/trace/timeline/whole-timeline.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { recipients, shortened } from './message-page.ts'
import { organizationsPath } from '../organizations/organizations.ts'
import type { Pages, SignedInRequest } from '../session/page-operation.ts'
import { statusTag, statusText, timeline } from './trace-texts.ts'
import { inEnglish, timeOf } from '../layout/page-texts.ts'
import type { PageTexts } from '../texts/texts-for.ts'

export interface InboxPagesCore {
  readonly inboxes: Inboxes
  readonly projects: Pick<Projects, 'list'>
  readonly traces: Pick<TraceReader, 'get'>
  readonly probes: Pick<Probes, 'waiting'>
}

const inboxesShown = 100
const messagesShown = 50
const recipientsInList = 3

const inboxesPath = (organizationId: string): string => `/organizations/${organizationId}/inboxes`
export const inboxPath = (organizationId: string, inboxId: string): string => `${inboxesPath(organizationId)}/${inboxId}`
export const memberTracePath = (organizationId: string, traceId: string): string => `/organizations/${organizationId}/traces/${traceId}`

export const inboxPageOperations = (pages: Pages, core: InboxPagesCore): readonly Operation[] => [
  pages.signedIn(
    { path: '/organizations/{id}/inboxes', operationId: 'showInboxes', summary: 'Show the virtual inboxes of an organization' },
    async (request) => inboxesPage(core, request, await memberPrincipal(pages, request)),
  ),
  pages.signedIn(
    { path: '/organizations/{id}/inboxes/{inbox_id}', operationId: 'showInbox', summary: 'Show the messages of a virtual inbox' },
    async (request) => inboxPage(core, request, await memberPrincipal(pages, request)),
  ),
  pages.signedIn(
    { path: '/organizations/{id}/traces/{trace_id}', operationId: 'showTrace', summary: 'Show the status of a message' },
    async (request) => tracePage(core, request, await memberPrincipal(pages, request)),
  ),
]

/** Throws the same `not_found` for missing and foreign organizations, and for roles without read access. */
export async function memberPrincipal({ people }: Pages, { signedIn, params: { id = '' } }: SignedInRequest): Promise<Principal> {
  const { user } = signedIn
  const mine = await people.members.organizationsOf(user.id)
  const organization = mine.find((one) => one.organization.id === id)?.organization
  const scopes = organization && (await people.members.scopesOfMember(id, user.id))?.scopes
  if (!organization || !scopes || scopes.length === 0) throw new Refusal('not_found', 'No message with this id is visible to you.')
  const holder = { kind: 'user', userId: user.id } as const
  return { organizationId: id, projectId: organization.defaultProjectId, bound: false, scopes, credentialId: user.id, holder }
}

const back = (path: string, title: string): Html => html`<p class="meta"><a class="back" href="${path}">← ${title}</a></p>`

const patternProblem = ({ addressPattern }: Inbox, { mail }: PageTexts): string =>
  addressPattern === '*' ? mail.inboxes.everyAddress : addressPattern

async function inboxesPage(core: InboxPagesCore, { visitor, query, texts }: SignedInRequest, principal: Principal): Promise<Answer> {
  const { inboxes: said } = texts.mail
  const { organizationId } = principal
  const [list, projects] = await Promise.all([
    core.inboxes.list(principal, { limit: inboxesShown, cursor: query('cursor') }),
    core.projects.list(principal, { limit: inboxesShown }),
  ])
  const names = new Map(projects.rows.map(({ project }) => [project.id, project.name]))
  return page({
    title: texts.profile.captured,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    content: html`${back(organizationsPath, texts.organizations)}
      <h1>${texts.profile.captured}</h1>
      <p class="lead">${said.lead}</p>
      <section class="sheet" aria-label="${said.list}">
        <ul class="rows">
          ${list.rows.map(
            (inbox) =>
              html`<li>
                <div>
                  <h2 class="item"><a href="${inboxPath(organizationId, inbox.id)}">${inbox.name}</a></h2>
                  <p class="meta">
                    ${names.has(inbox.projectId) && `${said.project({ name: names.get(inbox.projectId) ?? '' })} · `}${said.mailFor({ pattern: patternProblem(inbox, texts) })}
                  </p>
                </div>
              </li>`,
          )}
        </ul>
        ${older(inboxesPath(organizationId), list.nextCursor, said.more)}
      </section>`,
  })
}

const older = (path: string, cursor: string | undefined, label: string): Html | undefined =>
  cursor === undefined ? undefined : html`<p class="after"><a class="button quiet" href="${path}?cursor=${cursor}">${label}</a></p>`

async function inboxPage(core: InboxPagesCore, { visitor, params, query, texts }: SignedInRequest, principal: Principal): Promise<Answer> {
  const { inboxes: said } = texts.mail
  const { organizationId } = principal
  const { inbox_id: inboxId = '' } = params
  const inbox = await core.inboxes.get(principal, inboxId)
  const { rows, nextCursor } = await core.inboxes.messages(principal, inboxId, { limit: messagesShown, cursor: query('cursor') })
  const path = inboxPath(organizationId, inboxId)
  return page({
    title: inbox.name,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    content: html`${back(inboxesPath(organizationId), texts.profile.captured)}
      <h1>${inbox.name}</h1>
      <p class="lead">${said.messagesFor({ pattern: patternProblem(inbox, texts) })}</p>
      <section class="sheet" aria-label="${said.messages}">
        ${
          rows.length === 0
            ? html`<p>${said.none}</p>`
            : html`<ul class="files">
                ${rows.map((row) => messageRow(path, row, texts))}
              </ul>`
        }
        ${older(path, nextCursor, said.older)}
      </section>`,
  })
}

const messageRow = (path: string, { capture, trace }: CaptureSummary, texts: PageTexts): Html =>
  html`<li>
    <a href="${path}/messages/${capture.id}" dir="auto"
      >${shortened(decodeEncodedWords(trace.subject)) || texts.mail.message.withoutSubject}</a
    >
    <span class="meta">${recipients(capture.intendedTo, texts, recipientsInList)} · ${timeOf(capture.capturedAt, texts.lang)}</span>
  </li>`

async function tracePage(core: InboxPagesCore, { visitor, params, texts }: SignedInRequest, principal: Principal): Promise<Answer> {
  const { message: said } = texts.mail
  const { trace_id: traceId = '' } = params
  const details = await core.traces.get(principal, traceId.toLowerCase())
  const { trace } = details
  const waiting = await core.probes.waiting(principal.organizationId, trace)
  const subject = shortened(decodeEncodedWords(trace.subject)) || said.withoutSubject
  return page({
    title: said.traceOf({ subject }),
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    content: html`${back(inboxesPath(principal.organizationId), texts.profile.captured)}
      <section class="sheet" aria-labelledby="subject">
        <p class="eyebrow">${statusText(trace.status, texts).sentence}</p>
        <h1 id="subject" dir="auto">${subject}</h1>
        <dl class="mail">
          <dt>${texts.trace.status}</dt>
          <dd>${statusTag(trace.status, texts)}</dd>
          <dt>${said.why}</dt>
          <dd ${inEnglish(texts)}>${trace.outcomeReason}</dd>
          ${
            waiting &&
            html`<dt>${said.waiting}</dt>
              <dd ${inEnglish(texts)}>${waiting.message}</dd>`
          }
          <dt>${said.from}</dt>
          <dd>${trace.headerFrom || trace.mailFrom}</dd>
          <dt>${said.to}</dt>
          <dd>
            ${recipients(
              trace.recipients.map(({ address }) => address),
              texts,
            )}
          </dd>
          <dt>${texts.trace.trace}</dt>
          <dd><code class="token">${trace.id}</code></dd>
        </dl>
        <p class="after">
          ${trace.status === 'pending' && html`<a class="button" href="${approvalPath(principal.organizationId, trace.id)}">${said.decide}</a>`}
          <a class="button quiet" href="/share/traces/${trace.id}">${said.share}</a>
        </p>
      </section>
      <section class="sheet" aria-labelledby="timeline">
        <h2 id="timeline">${texts.trace.timeline}</h2>
        ${timeline([...timelineEntries(details), ...(waiting ? [waiting] : [])], texts)}
      </section>`,
  })
}

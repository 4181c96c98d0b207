/** Taking over a sandbox: open claims and the field for a code, the page that asks, and the way back. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import type { Claim } from '#core/claims/claim.ts'
import type { Claims, ClaimView } from '#core/claims/claims.ts'
import { permissions, type Permission } from '#core/claims/permissions.ts'
import { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { csrfField } from '../session/confirm-first.ts'
import { doneNotice, faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { keyChoice, keysToKeep } from '../layout/key-choice.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { membersPath } from '../organizations/organizations.ts'
import { underOwnAddress } from '../session/own-address.ts'
import { Pages, seeOther, type PagesCore, type SignedInRequest } from '../session/page-operation.ts'
import { doneWords, timeOf } from '../layout/page-words.ts'

const path = '/integrations'
const claimPath = (code: string): string => `/claims/${encodeURIComponent(code)}`
const undoPath = (organizationId: string): string => `/claims/${encodeURIComponent(organizationId)}/undo`

export interface ClaimPagesCore extends PagesCore {
  readonly claims: Claims
}

export function claimOperations(core: ClaimPagesCore): readonly Operation[] {
  const pages = new Pages(core)
  return underOwnAddress(core.people.relyingParty.origin, [
    ...listing(pages, core.claims),
    ...claiming(pages, core.claims),
    ...undoing(pages, core.claims),
  ])
}

const listing = (pages: Pages, claims: Claims): readonly Operation[] => [
  pages.signedIn({ path, operationId: 'showIntegrations', summary: 'List sandboxes to take over' }, (request) =>
    integrationsPage(claims, request),
  ),
  pages.form(
    { path: '/integrations/code', operationId: 'enterClaimCode', summary: 'Take the code of an agent', back: () => path },
    async (request) => {
      const { signedIn, form } = request
      try {
        const { claim } = await claims.look(signedIn.user, form.get('code') ?? '')
        return seeOther(claimPath(claim.userCode))
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'not_found') throw error
        return integrationsPage(claims, request, { field: 'code', message: error.message })
      }
    },
  ),
]

const claiming = (pages: Pages, claims: Claims): readonly Operation[] => [
  pages.signedIn(
    { path: '/claims/{code}', operationId: 'showClaim', summary: 'Ask whether to take over a sandbox' },
    async ({ params: { code = '' }, signedIn, visitor }) => claimPage(await claims.look(signedIn.user, code), visitor),
  ),
  pages.form(
    {
      ...{ path: '/claims/{code}', operationId: 'confirmClaim', summary: 'Take over a sandbox' },
      back: ({ code = '' }) => claimPath(code),
    },
    async ({ params: { code = '' }, signedIn, form }) => {
      const chosen = permissions.filter((permission) => form.has(permission))
      const { id } = await claims.confirm(signedIn.user, code, chosen)
      return seeOther(`${membersPath(id)}?done=claimed`)
    },
  ),
]

const undoing = (pages: Pages, claims: Claims): readonly Operation[] => {
  const facts = { path: '/claims/{organization}/undo' }
  return [
    pages.signedIn(
      { ...facts, operationId: 'showUndoClaim', summary: 'Ask whether to end the session of an agent' },
      async ({ params: { organization = '' }, signedIn, visitor }) => {
        const claim = await claims.undoable(signedIn.user, organization)
        return undoPage(claim, await claims.keysOf(claim), visitor)
      },
    ),
    pages.form(
      {
        ...{ ...facts, operationId: 'undoClaim', summary: 'End the session of an agent' },
        back: ({ organization = '' }) => undoPath(organization),
      },
      async ({ params: { organization = '' }, signedIn, form }) => {
        await claims.undo(signedIn.user, organization, keysToKeep(form))
        return seeOther(`${path}?done=undone`)
      },
    ),
  ]
}

async function integrationsPage(claims: Claims, request: SignedInRequest, fault?: FieldFault): Promise<Answer> {
  const { signedIn, visitor, query, form } = request
  const open = await claims.openFor(signedIn.user)
  return page({
    title: fault ? 'Problem: Integrations' : 'Integrations',
    width: 'wide',
    visitor,
    section: 'integrations',
    ...(fault && { status: 400 }),
    content: html`<h1>Integrations</h1>
      ${doneNotice(doneWords(query('done')))} ${faultSummary(fault)}
      <section class="sheet" aria-labelledby="open">
        <h2 id="open">Agents that wait for you</h2>
        ${
          open.length > 0
            ? html`<ul class="rows">
                ${open.map(claimRow)}
              </ul>`
            : html`<p>No agent has asked for <b>${signedIn.user.email}</b> in the last 30 minutes.</p>`
        }
      </section>
      <section class="sheet" aria-labelledby="enter">
        <h2 id="enter">Enter a code</h2>
        <form method="post" action="/integrations/code" novalidate>
          ${csrfField(visitor)}
          <div class="inline">
            ${textField({
              ...{ name: 'code', label: 'Code', autocomplete: 'off', maxLength: 40, fault },
              value: form.get('code') ?? '',
              hint: 'Enter only a code that your own agent shows, such as KITE-4207.',
            })}
            <button>Attach</button>
          </div>
        </form>
      </section>`,
  })
}

const claimRow = ({ clientName, userCode, startedAt }: Claim): Html =>
  html`<li>
    <div>
      <h3>${userCode}</h3>
      <p class="meta">${clientName}, asked ${timeOf(startedAt)}.</p>
    </div>
    <p class="side"><a class="button quiet" href="${claimPath(userCode)}" aria-label="Attach ${userCode}">Attach</a></p>
  </li>`

function claimPage({ claim, project, organizationCount }: ClaimView, visitor: Visitor): Answer {
  return page({
    title: `Take over ${project.name}`,
    visitor,
    content: html`<div class="sheet">
      <h1>Is this your agent?</h1>
      <p class="lead">
        It must be showing the code <b>${claim.userCode}</b>. If it shows another one, or somebody else sent you the code, do not go on.
      </p>
      <dl class="facts">
        ${[
          fact('Agent', claim.clientName),
          fact('Project', project.name),
          fact('Made', timeOf(claim.sandboxAt)),
          fact('Becomes', html`the organization <b>${project.name}</b>, with you as its owner`),
        ]}
      </dl>
      <p class="note">
        ${
          organizationCount === 0
            ? 'This will be your first organization.'
            : 'You are already a member of an organization. This becomes another one, and the agent has no access to the others.'
        }
      </p>
      <form method="post" action="${claimPath(claim.userCode)}">
        ${csrfField(visitor)}
        <fieldset class="checks">
          <legend>Permissions of the agent</legend>
          <p class="hint">Reading is always part of it.</p>
          ${permissions.map(permissionField)}
        </fieldset>
        <button>Take it over</button>
      </form>
      <a class="button quiet" href="/integrations">Not now</a>
    </div>`,
  })
}

const fact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

const permissionWords: Readonly<Record<Permission, string>> = {
  send_sandbox: 'Send into the sandbox, where mail is captured',
  send_live: 'Send to real recipients, once there is a live destination',
  admin: 'Change everything in the project, such as destinations',
}

const permissionField = (permission: Permission): Html =>
  html`<label class="check"
    ><input type="checkbox" name="${permission}" ${permission === 'send_sandbox' && html`checked`} />
    <span>${permissionWords[permission]}</span></label
  >`

const undoPage = ({ id, clientName, userCode, claimedAt }: Claim, keys: readonly ApiKey[], visitor: Visitor): Answer =>
  page({
    title: 'End the session of the agent',
    visitor,
    content: html`<div class="sheet">
      <h1>End the session of the agent?</h1>
      <p>
        You took over the sandbox with the code <b>${userCode}</b>${claimedAt !== null && html` on ${timeOf(claimedAt)}`}. Its agent
        (${clientName}) then stops at once and cannot come back by itself. The organization stays yours, and so do SMTP credentials and
        publishable keys that the agent made: review them.
      </p>
      <form method="post" action="${undoPath(id)}">
        ${csrfField(visitor)} ${keyChoice(keys, { mayKeep: true, kept: 'A kept key depends only on you, and never exceeds your role.' })}
        <button class="danger">End the session</button>
      </form>
      <a class="button quiet" href="/integrations">Keep it</a>
    </div>`,
  })

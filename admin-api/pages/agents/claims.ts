/** Claims of sandboxes: open claims, the field for a code, the confirmation page, and the way to undo a claim. */
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
import { saidIn, type PageTexts } from '../texts/texts-for.ts'
import { Pages, seeOther, type PagesCore, type SignedInRequest } from '../session/page-operation.ts'
import { doneText, timeOf } from '../layout/page-texts.ts'

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
    { path: '/integrations/code', operationId: 'enterClaimCode', summary: 'Enter the code of an agent', back: () => path },
    async (request) => {
      const { signedIn, form } = request
      try {
        const { claim } = await claims.look(signedIn.user, form.get('code') ?? '')
        return seeOther(claimPath(claim.userCode))
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'not_found') throw error
        return integrationsPage(claims, request, { field: 'code', message: saidIn(request.texts, error.message) ?? error.message })
      }
    },
  ),
]

const claiming = (pages: Pages, claims: Claims): readonly Operation[] => [
  pages.signedIn(
    { path: '/claims/{code}', operationId: 'showClaim', summary: 'Ask whether to take over a sandbox' },
    async ({ params: { code = '' }, signedIn, visitor, texts }) => claimPage(await claims.look(signedIn.user, code), visitor, texts),
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
      async ({ params: { organization = '' }, signedIn, visitor, texts }) => {
        const claim = await claims.undoable(signedIn.user, organization)
        return undoPage(claim, await claims.keysOf(claim), visitor, texts)
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
  const { signedIn, visitor, query, form, texts } = request
  const said = texts.claims
  const open = await claims.openFor(signedIn.user)
  return page({
    title: fault ? texts.problem({ title: texts.integrations }) : texts.integrations,
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'integrations',
    ...(fault && { status: 400 }),
    content: html`<h1>${texts.integrations}</h1>
      ${doneNotice(doneText(query('done'), texts))} ${faultSummary(fault)}
      <section class="sheet" aria-labelledby="open">
        <h2 id="open">${said.waiting}</h2>
        ${
          open.length > 0
            ? html`<ul class="rows">
                ${open.map((claim) => claimRow(claim, texts))}
              </ul>`
            : html`<p>${said.none({ email: signedIn.user.email })}</p>`
        }
      </section>
      <section class="sheet" aria-labelledby="enter">
        <h2 id="enter">${said.enter}</h2>
        <form method="post" action="/integrations/code" novalidate>
          ${csrfField(visitor)}
          <div class="inline">
            ${textField({
              ...{ name: 'code', label: said.code, autocomplete: 'off', maxLength: 40, fault },
              value: form.get('code') ?? '',
              hint: said.codeHint,
            })}
            <button>${said.attach}</button>
          </div>
        </form>
      </section>`,
  })
}

const claimRow = ({ clientName, userCode, startedAt }: Claim, { lang, claims }: PageTexts): Html =>
  html`<li>
    <div>
      <h3>${userCode}</h3>
      <p class="meta">${claims.asked({ client: clientName, at: timeOf(startedAt, lang) })}</p>
    </div>
    <p class="side">
      <a class="button quiet" href="${claimPath(userCode)}" aria-label="${claims.attachCode({ code: userCode })}">${claims.attach}</a>
    </p>
  </li>`

function claimPage({ claim, project, organizationCount }: ClaimView, visitor: Visitor, texts: PageTexts): Answer {
  const said = texts.claims
  return page({
    title: said.title({ project: project.name }),
    lang: texts.lang,
    visitor,
    content: html`<div class="sheet">
      <h1>${said.heading}</h1>
      <p class="lead">${said.lead({ code: claim.userCode })}</p>
      <dl class="facts">
        ${[
          fact(said.agent, claim.clientName),
          fact(said.project, project.name),
          fact(said.made, timeOf(claim.sandboxAt, texts.lang)),
          fact(said.becomes, said.organization({ project: project.name })),
        ]}
      </dl>
      <p class="note">${organizationCount === 0 ? said.first : said.another}</p>
      <form method="post" action="${claimPath(claim.userCode)}">
        ${csrfField(visitor)}
        <fieldset class="checks">
          <legend>${said.may}</legend>
          <p class="hint">${said.mayRead}</p>
          ${permissions.map((permission) => permissionField(permission, texts))}
        </fieldset>
        <button>${said.takeOver}</button>
      </form>
      <a class="button quiet" href="/integrations">${said.notNow}</a>
    </div>`,
  })
}

const fact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

const permissionField = (permission: Permission, { claims }: PageTexts): Html =>
  html`<label class="check"
    ><input type="checkbox" name="${permission}" ${permission === 'send_sandbox' && html`checked`} />
    <span>${claims.permissions[permission]}</span></label
  >`

const undoPage = ({ id, clientName, userCode, claimedAt }: Claim, keys: readonly ApiKey[], visitor: Visitor, texts: PageTexts): Answer =>
  page({
    title: texts.claims.endTitle,
    lang: texts.lang,
    visitor,
    content: html`<div class="sheet">
      <h1>${texts.claims.endQuestion}</h1>
      <p>
        ${texts.claims.endText({ code: userCode, client: clientName, at: claimedAt === null ? undefined : timeOf(claimedAt, texts.lang) })}
      </p>
      <form method="post" action="${undoPath(id)}">
        ${csrfField(visitor)} ${keyChoice(keys, { mayKeep: true, kept: texts.claims.kept }, texts)}
        <button class="danger">${texts.claims.endIt}</button>
      </form>
      <a class="button quiet" href="/integrations">${texts.claims.keepIt}</a>
    </div>`,
  })

/** The consent page for an application: its identity, the requested scopes, and the projects. */
import type { PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import {
  maxProjectName,
  mayReachOrganization,
  preselectedScopes,
  requestedScopes,
  type OrganizationChoice,
} from '#core/consent/consents.ts'
import type { OAuthError } from '#core/oauth/protocol/oauth-error.ts'
import { levelOf, oauthScopes, ofSurface, surfaceOf, type OAuthScope, type Surface } from '#core/oauth/protocol/scopes.ts'
import { invalid } from '#core/refusals.ts'
import type { Project } from '#core/tenancy/organization.ts'
import type { Answer } from '../../operation/answer.ts'
import { csrfField } from '../session/confirm-first.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { saidIn, type PageTexts } from '../texts/texts-for.ts'
import { scopeTexts } from './scope-texts.ts'
import { hasFewerToolsets, toolsetFields } from './toolset-fields.ts'

export interface ConsentView {
  readonly pending: PendingAuthorization
  readonly places: readonly OrganizationChoice[]
  readonly visitor: Visitor
  /** The submitted form, shown again with its problem; empty at first. */
  readonly form: URLSearchParams
  readonly fault: FieldFault | undefined
  readonly texts: PageTexts
}

export function consentPage(view: ConsentView): Answer {
  const { pending, places, visitor, texts } = view
  const said = texts.consent
  const { name } = pending.client
  const fault = faultAt(view)
  const isOpen = places.some(({ reach }) => reach.length > 0)
  const note = isOpen ? riskOf(pending, said) : nowhere(places, said)
  return page({
    title: fault ? texts.problem({ title: said.title({ name }) }) : said.title({ name }),
    lang: texts.lang,
    keepsOpener: true,
    formAction: redirectSource(pending.redirectUri),
    ...(fault && { status: 400 }),
    letterhead: { heading: said.heading({ name }), lead: introduction(pending, said), facts: factsOf(pending, visitor, texts) },
    content: html`${faultSummary(fault)} ${!isOpen && html`<p>${note}</p>`}
      <form method="post" novalidate>
        ${csrfField(visitor)} ${isOpen && placeField(view, fault)} ${isOpen && permissions(view, fault)}
        <div class="decision">
          ${isOpen && html`<button name="decision" value="allow">${said.allow}</button>`}
          <button class="quiet" name="decision" value="deny">${said.deny}</button>
        </div>
      </form>
      ${isOpen && note !== undefined && html`<p class="fine">${note}</p>`}`,
  })
}

/** Shows a problem of the request itself, since there is no valid redirect address. */
export const problemPage = ({ http, message }: OAuthError, { lang, consent: said }: PageTexts): Answer =>
  page({
    title: said.broken,
    lang,
    status: http === 401 ? 400 : http, // a browser has no way to authenticate
    letterhead: { heading: said.broken },
    content: html`<p>${said.brokenText} <span lang="en">${message}</span></p>
      <p class="fine">${said.brokenHint}</p>`,
  })

/** Says who vouches for the name, and where the answer goes. */
function introduction({ client, redirectHost, isLoopback }: PendingAuthorization, said: PageTexts['consent']): Html {
  const { verifiedHost: host } = client
  const answers = isLoopback ? said.answersHere({ name: client.name, host: redirectHost }) : said.answersTo({ host: redirectHost })
  return html`${host !== undefined && said.vouched({ host })} ${answers}`
}

const factsOf = ({ mayRefresh }: PendingAuthorization, { email }: Visitor, { consent: said, applications }: PageTexts) =>
  [
    [said.you, email],
    [said.ends, mayRefresh ? said.endsIdle : said.endsSoon],
    [said.undo, applications.title],
  ] as const

/** The greatest risk: another program that uses the name. Undefined for a website whose host vouches for the name. */
function riskOf({ client: { name, verifiedHost }, isLoopback }: PendingAuthorization, said: PageTexts['consent']): string | undefined {
  if (isLoopback) return verifiedHost === undefined ? said.unverifiedHere({ name }) : said.anyHere({ name })
  return verifiedHost === undefined ? said.unverified({ name }) : undefined
}

const nowhere = (places: readonly OrganizationChoice[], said: PageTexts['consent']): Html =>
  places.length === 0 ? html`${said.noMember} <a href="/organizations">${said.makeOrJoin}</a>${said.thenAgain}` : html`${said.noRole}`

/** Shows the scopes of each surface. The user may grant fewer or more than requested, up to the user's highest role. */
function permissions(view: ConsentView, fault: FieldFault | undefined): Html {
  const { pending, places, form, texts } = view
  const said = texts.consent
  const most = new Set(places.flatMap(({ reach }) => reach))
  const [requested, preselected] = [requestedScopes(pending), preselectedScopes(pending)]
  const ticked = new Set<string>(form.has('decision') ? form.getAll('scope') : preselected)
  const isOnly = pending.surfaces.length === 1
  const row = (scope: OAuthScope): Html => {
    const { label, meaning } = scopeTexts(texts, scope)
    const id = scope.replaceAll(':', '-')
    const isAllowed = most.has(scope)
    const isIncluded = isOnly && isAllowed && levelOf([scope], surfaceOf(scope)) === 0
    const isRisk = requested.includes(scope) && !preselected.includes(scope)
    return html`<div class="choice box">
      <input
        type="checkbox"
        id="${id}"
        name="scope"
        value="${scope}"
        aria-describedby="${id}-hint"
        ${(!isAllowed || isIncluded) && html`disabled`}
        ${isAllowed && (isIncluded || ticked.has(scope)) && html`checked`}
      />
      ${isIncluded && html`<input type="hidden" name="scope" value="${scope}" />`}
      <label for="${id}">${label}</label>
      <p class="hint" id="${id}-hint">
        ${isRisk && html`<b>${said.requested}</b>`} ${meaning} ${isIncluded && said.included}
        ${!isAllowed && html`<b>${said.notYourRole}</b>`}
      </p>
    </div>`
  }
  const group = (surface: Surface): Html => {
    const rows = ofSurface(oauthScopes, surface).map(row)
    if (isOnly) return html`<div class="boxes">${rows}</div>`
    return html`<fieldset>
      <legend class="group">${said.surfaces[surface]}</legend>
      <div class="boxes">${rows}</div>
    </fieldset>`
  }
  return html`<fieldset class="part" id="scope" tabindex="-1" aria-describedby="scope-hint${fault?.field === 'scope' && ' scope-fault'}">
    <legend>${said.what}</legend>
    <p class="hint" id="scope-hint">${said.each}</p>
    ${fault?.field === 'scope' && html`<p class="fault" id="scope-fault">${fault.message}</p>`} ${pending.surfaces.map(group)}
    ${pending.surfaces.includes('mcp') && moreOptions(view, fault)}
  </fieldset>`
}

const mayBeWider = ({ pending, places }: Pick<ConsentView, 'pending' | 'places'>): boolean =>
  pending.surfaces.includes('mcp') && places.some(mayReachOrganization)

/** Choices that are seldom changed: settings beyond the project, and the tools of an agent. */
function moreOptions(view: ConsentView, fault: FieldFault | undefined): Html {
  const { form, texts } = view
  const hasWider = mayBeWider(view)
  const isOpen = fault?.field === 'toolset' || form.get('organization') === 'all' || hasFewerToolsets(form)
  return html`<details id="toolset" tabindex="-1" ${isOpen && html`open`}>
    <summary>${texts.consent.more}</summary>
    ${hasWider && organizationRow(form, texts)} ${toolsetFields(form, texts, fault)}
  </details>`
}

/** Separate from the scopes, since it reaches beyond the project. */
const organizationRow = (form: URLSearchParams, { consent }: PageTexts): Html =>
  html`<div class="choice box">
    <input
      type="checkbox"
      id="organization"
      name="organization"
      value="all"
      aria-describedby="organization-hint"
      ${form.get('organization') === 'all' && html`checked`}
    />
    <label for="organization">${consent.organization.label}</label>
    <p class="hint" id="organization-hint">${consent.organization.meaning}</p>
  </div>`

/** A list of all projects. A new project needs a name, which styles hide until it is chosen. */
function placeField(view: ConsentView, fault: FieldFault | undefined): Html {
  const { pending, places, form, texts } = view
  const said = texts.consent
  const open = places.filter(({ reach }) => reach.length > 0)
  const [only] = open.length === 1 && open[0]?.projects.length === 1 ? open : []
  const chosen = form.get('place') ?? (only?.projects[0] ? placeValue(only, only.projects[0]) : '')
  const mine = fault?.field === 'place' ? fault : undefined
  return html`<div class="field">
      <label for="place">${said.where}</label>
      <p class="hint" id="place-hint">${said.onlyOne({ name: pending.client.name })}</p>
      ${mine && html`<p class="fault" id="place-fault">${mine.message}</p>`}
      <select id="place" name="place" required aria-describedby="place-hint${mine && ' place-fault'}" ${mine && html`aria-invalid="true"`}>
        ${chosen === '' && html`<option value="">${said.choose}</option>`}
        ${places.length === 1 ? open.map((place) => options(place, chosen, texts)) : places.map((place) => optionGroup(place, chosen, texts))}
      </select>
    </div>
    ${
      open.some(({ mayMakeProjects }) => mayMakeProjects) &&
      html`<div class="another">
        ${textField({
          ...{ name: 'name', label: said.newProjectName, autocomplete: 'off', maxLength: maxProjectName, fault, isOptional: true },
          value: form.get('name') ?? '',
        })}
      </div>`
    }`
}

const optionGroup = (place: OrganizationChoice, chosen: string, texts: PageTexts): Html =>
  html`<optgroup label="${place.organization.name}">
    ${place.reach.length === 0 ? html`<option disabled>${texts.consent.roleReachesNone}</option>` : options(place, chosen, texts)}
  </optgroup>`

function options(place: OrganizationChoice, chosen: string, { consent: said }: PageTexts): Html {
  const { projects, mayMakeProjects } = place
  const parents = new Map(projects.map((project) => [project.id, project.name]))
  const option = (value: string, label: string): Html =>
    html`<option value="${value}" ${value === chosen && html`selected`}>${label}</option>`
  return html`${projects.map((project) => {
    const { name, parentId } = project
    return option(placeValue(place, project), parentId === undefined ? name : `${parents.get(parentId) ?? ''} / ${name}`)
  })}
  ${mayMakeProjects && option(placeValue(place), said.newProject)}`
}

/** Value of a place in the form: `organization.project`, or `organization.new` for a new project. */
const placeValue = ({ organization: { id } }: OrganizationChoice, project?: Project): string => `${id}.${project?.id ?? 'new'}`

/** Throws `validation_failed` if no place was chosen. */
export function readOrganizationChoice(value: string | null): { readonly organizationId: string; readonly projectId: string | undefined } {
  const [organizationId = '', projectId = ''] = (value ?? '').split('.')
  if (projectId === '') throw invalid([{ path: 'place', message: 'Choose where the application may work.' }])
  return { organizationId, projectId: projectId === 'new' ? undefined : projectId }
}

/** Returns the problem in the language of the reader. */
const faultAt = ({ fault, texts }: ConsentView): FieldFault | undefined =>
  fault && { ...fault, message: saidIn(texts, fault.message) ?? valuedFault(fault, texts) }

/** Returns a problem whose sentence contains a number or a name. */
function valuedFault({ field, message }: FieldFault, { lang, consent }: PageTexts): string {
  if (lang === 'en') return message
  if (field === 'name') return consent.badName({ max: maxProjectName })
  return field === 'scope' ? consent.roleTooSmall : message
}

/**
 * Returns the CSP source for the redirect address, which `form-action` must allow. CSP has no IPv6 addresses; other schemes are allowed by
 * name only.
 */
function redirectSource(redirectUri: string): string {
  const { origin, protocol, hostname } = new URL(redirectUri)
  return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol
}

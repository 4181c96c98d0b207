/** The consent page for an application: its identity, the requested scopes, and the projects. */
import type { PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import { maxProjectName, mayReachOrganization, suggestedScopes, type OrganizationChoice } from '#core/consent/consents.ts'
import type { OAuthError } from '#core/oauth/protocol/oauth-error.ts'
import { oauthScopes, ofSurface, type OAuthScope, type Surface } from '#core/oauth/protocol/scopes.ts'
import { invalid } from '#core/refusals.ts'
import type { Project } from '#core/tenancy/organization.ts'
import type { Answer } from '../../operation/answer.ts'
import { csrfField } from '../session/confirm-first.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page, type Visitor } from '../layout/layout.ts'
import { saidIn, type PageTexts } from '../texts/texts-for.ts'
import { scopeTexts } from './scope-texts.ts'
import { toolsetFields } from './toolset-fields.ts'

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
  const { client, redirectUri } = pending
  const fault = faultAt(view)
  const isOpen = places.some(({ reach }) => reach.length > 0)
  return page({
    title: fault ? texts.problem({ title: said.title({ name: client.name }) }) : said.title({ name: client.name }),
    lang: texts.lang,
    visitor,
    keepsOpener: true,
    formAction: redirectSource(redirectUri),
    ...(fault && { status: 400 }),
    content: html`<div class="sheet">
      <h1>${said.heading({ name: client.name })}</h1>
      ${facts(pending, visitor, said)} ${faultSummary(fault)} ${!isOpen && nowhere(places, said)}
      <form method="post" novalidate>
        ${csrfField(visitor)} ${isOpen && whatFields(view, fault)} ${isOpen && whereFields(view, fault)}
        <div class="decision">
          ${isOpen && html`<button name="decision" value="allow">${said.allow}</button>`}
          <button class="quiet" name="decision" value="deny">${said.deny}</button>
        </div>
      </form>
      ${isOpen && html`<p class="hint">${said.revocable}</p>`}
    </div>`,
  })
}

/** Shows a problem of the request itself, since there is no valid redirect address. */
export const problemPage = ({ http, message }: OAuthError, { lang, consent: said }: PageTexts): Answer =>
  page({
    title: said.broken,
    lang,
    status: http === 401 ? 400 : http, // a browser has no way to authenticate
    content: html`<div class="sheet">
      <h1>${said.broken}</h1>
      <p>${said.brokenText} <span lang="en">${message}</span></p>
      <p class="hint">${said.brokenHint}</p>
    </div>`,
  })

function facts({ client, redirectHost, isLoopback }: PendingAuthorization, { email }: Visitor, said: PageTexts['consent']): Html {
  const { name, verifiedHost } = client
  return html`<dl class="facts">
      <div>
        <dt>${said.application}</dt>
        <dd>
          ${name}
          ${
            verifiedHost === undefined
              ? html`<p class="meta warned">${said.unverified}</p>`
              : html`<p class="meta">${said.vouched({ host: verifiedHost })}</p>`
          }
        </dd>
      </div>
      <div>
        <dt>${said.answerTo}</dt>
        <dd>${redirectHost}</dd>
      </div>
      <div>
        <dt>${said.you}</dt>
        <dd>${email}</dd>
      </div>
    </dl>
    ${isLoopback && html`<p class="note caution">${said.loopback({ name })}</p>`}`
}

const nowhere = (places: readonly OrganizationChoice[], said: PageTexts['consent']): Html =>
  places.length === 0
    ? html`<p class="note">${said.noMember} <a href="/organizations">${said.makeOrJoin}</a>${said.thenAgain}</p>`
    : html`<p class="note">${said.noRole}</p>`

/** Shows the scopes of each surface. The user may grant fewer or more than requested, up to the user's highest role. */
function whatFields({ pending, places, form, texts, fault: formFault }: ConsentView, fault: FieldFault | undefined): Html {
  const most = new Set(places.flatMap(({ reach }) => reach))
  const ticked = new Set<string>(formFault ? form.getAll('scope') : suggestedScopes(pending))
  const row = (scope: OAuthScope): Html => {
    const { label, meaning } = scopeTexts(texts, scope)
    const id = scope.replaceAll(':', '-')
    const isOpen = most.has(scope)
    return html`<div class="choice">
      <input
        type="checkbox"
        id="${id}"
        name="scope"
        value="${scope}"
        aria-describedby="${id}-hint"
        ${!isOpen && html`disabled`}
        ${isOpen && ticked.has(scope) && html`checked`}
      />
      <label for="${id}">${label}</label>
      <p class="hint" id="${id}-hint">${meaning} ${!isOpen && html`<b>${texts.consent.notYourRole}</b>`}</p>
    </div>`
  }
  const group = (surface: Surface): Html =>
    html`<fieldset class="choices">
      <legend>${texts.consent.surfaces[surface]}</legend>
      ${ofSurface(oauthScopes, surface).map(row)} ${surface === 'mcp' && mayBeWider({ pending, places }) && organizationRow(form, texts)}
      ${surface === 'mcp' && toolsetFields(form, texts, fault)}
    </fieldset>`
  return html`<fieldset class="part" id="scope" tabindex="-1" aria-describedby="scope-hint${fault?.field === 'scope' && ' scope-fault'}">
    <legend><h2>${texts.consent.what}</h2></legend>
    <p class="hint" id="scope-hint">${texts.consent.each}</p>
    ${fault?.field === 'scope' && html`<p class="fault" id="scope-fault">${fault.message}</p>`} ${pending.surfaces.map(group)}
  </fieldset>`
}

const mayBeWider = ({ pending, places }: Pick<ConsentView, 'pending' | 'places'>): boolean =>
  pending.surfaces.includes('mcp') && places.some(mayReachOrganization)

/** Separate from the scopes, since it reaches beyond the project. */
const organizationRow = (form: URLSearchParams, { consent }: PageTexts): Html =>
  html`<div class="choice">
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

function whereFields(view: ConsentView, fault: FieldFault | undefined): Html {
  const { places, form, texts } = view
  const open = places.filter(({ reach }) => reach.length > 0)
  const [only] = open.length === 1 && open[0]?.projects.length === 1 ? open : []
  const chosen = form.get('place') ?? (only?.projects[0] ? choiceValue(only, only.projects[0]) : '')
  return html`<fieldset class="part" id="place" tabindex="-1" aria-describedby="place-hint${fault?.field === 'place' && ' place-fault'}">
    <legend><h2>${texts.consent.where}</h2></legend>
    <p class="hint" id="place-hint">${mayBeWider(view) ? texts.consent.onlyOneUnless : texts.consent.onlyOne}</p>
    ${fault?.field === 'place' && html`<p class="fault" id="place-fault">${fault.message}</p>`}
    ${places.map((place) => placeFields(place, view, chosen, fault))}
  </fieldset>`
}

function placeFields(place: OrganizationChoice, { form, texts }: ConsentView, chosen: string, fault: FieldFault | undefined): Html {
  const { organization, role, projects, reach, mayMakeProjects } = place
  const name = `name-${organization.id}`
  const parents = new Map(projects.map((project) => [project.id, project.name]))
  const label = ({ name: own, parentId }: Project): string => (parentId === undefined ? own : `${parents.get(parentId) ?? ''} / ${own}`)
  return html`<fieldset class="choices">
    <legend>${organization.name}</legend>
    <p class="hint">${texts.consent.role({ label: texts.roles[role].label, meaning: texts.roles[role].meaning })}</p>
    ${reach.length === 0 && html`<p class="hint"><b>${texts.consent.roleReachesNone}</b></p>`}
    ${projects.map((project) => radio(choiceValue(place, project), label(project), chosen))}
    ${
      mayMakeProjects &&
      html`<div class="another">
        ${radio(choiceValue(place), texts.consent.newProject, chosen)}
        ${textField({
          ...{ name, label: texts.consent.newProjectName, autocomplete: 'off', maxLength: maxProjectName, fault, isOptional: true },
          value: form.get(name) ?? '',
        })}
      </div>`
    }
  </fieldset>`
}

const radio = (value: string, label: string, chosen: string): Html =>
  html`<div class="choice">
    <input type="radio" id="${value}" name="place" value="${value}" ${value === chosen && html`checked`} />
    <label for="${value}">${label}</label>
  </div>`

/** Value of a place in the form: `organization.project`, or `organization.new` for a new project. */
const choiceValue = ({ organization: { id } }: OrganizationChoice, project?: Project): string => `${id}.${project?.id ?? 'new'}`

/** Throws `validation_failed` if no place was chosen. */
export function readOrganizationChoice(value: string | null): { readonly organizationId: string; readonly projectId: string | undefined } {
  const [organizationId = '', projectId = ''] = (value ?? '').split('.')
  if (projectId === '') throw invalid([{ path: 'place', message: 'Choose where the application may work.' }])
  return { organizationId, projectId: projectId === 'new' ? undefined : projectId }
}

/** Maps a problem of `name` to the name field of the chosen organization. */
function faultAt({ fault, form, texts }: ConsentView): FieldFault | undefined {
  if (!fault) return undefined
  const said = { ...fault, message: saidIn(texts, fault.message) ?? valuedFault(fault, texts) }
  if (said.field !== 'name') return said
  return { ...said, field: `name-${readOrganizationChoice(form.get('place')).organizationId}` }
}

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

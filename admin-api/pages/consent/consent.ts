/** Consent of users to applications: the `AuthorizationUi` of the authorization endpoint. Anonymous visitors sign in first. */
import type { Authorizations, PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import type { Consents, Decision } from '#core/consent/consents.ts'
import type { KeptChoices } from '#core/consent/kept-choices.ts'
import { changesSettings, parseScopes } from '#core/oauth/protocol/scopes.ts'
import { safePath } from '#core/people/sign-in/login-link.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import { Refusal, type FieldProblem } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { redirectTo, type AuthorizationUi } from '../../oauth/authorize.ts'
import { oauthPaths } from '../../oauth/paths.ts'
import { consentPage, problemPage, readOrganizationChoice } from './consent-page.ts'
import { readToolsets } from './toolset-fields.ts'
import type { FieldFault } from '../layout/form-fields.ts'
import { signInFirst, type Pages } from '../session/page-operation.ts'
import { refusalPage } from '../layout/refusal-page.ts'
import { textsFor, type PageTexts } from '../texts/texts-for.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'

export interface ConsentCore {
  readonly authorizations: Authorizations
  readonly consents: Consents
  readonly choices: KeptChoices
}

/** Parameter of the page with earlier choices; it does not belong to the request. */
const choicesParameter = 'choices'

export function consentUi(pages: Pages, { authorizations, consents, choices }: ConsentCore): AuthorizationUi {
  const { people, browsers } = pages
  const show = async ({ pending, signedIn, texts }: Asked, form: URLSearchParams, fault?: FieldFault): Promise<Answer> => {
    const places = await consents.places(signedIn.user.id, pending)
    return consentPage({ pending, places, visitor: browsers.visitorOf(signedIn), form, fault, texts })
  }
  const ask = async (asked: Asked, query: string): Promise<Answer> => {
    const { pending, signedIn } = asked
    const { request, sealed } = partsOf(query)
    const chosen = choices.open(signedIn.user.id, request, sealed)
    if (chosen !== undefined) return show(asked, new URLSearchParams(chosen))
    const before = await consents.remembered(signedIn.user.id, pending)
    if (before) return redirectTo(await authorizations.approve(pending, before))
    if (pending.prompts.includes('none')) return redirectTo(authorizations.deny(pending, 'consent_required'))
    return show(asked, new URLSearchParams())
  }
  /** Returns to the page with the choices of the form, unless they make its address too long. */
  const confirmFirst = ({ signedIn }: Asked, form: URLSearchParams, query: string): Answer => {
    const { request } = partsOf(query)
    const path = pathOf(request)
    const sealed = choices.seal(signedIn.user.id, request, choicesOf(form).toString())
    const whole = `${path}&${choicesParameter}=${sealed}`
    return signInFirst(safePath(whole) === whole ? whole : path, true)
  }
  const approve = async (asked: Asked, form: URLSearchParams, query: string): Promise<Answer> => {
    const { pending, signedIn } = asked
    try {
      const decision = readDecision(form)
      if (decision.scopes.some(changesSettings) && !people.sessions.isFresh(signedIn.session)) return confirmFirst(asked, form, query)
      return redirectTo(await consents.approve(signedIn.user.id, pending, decision))
    } catch (error) {
      const fault = faultOf(error)
      if (!fault) throw error
      return show(asked, form, fault)
    }
  }
  return {
    errorRenderer: refusalPage,
    problem: (error, { headers }) => problemPage(error, textsFor(headers)),
    async ask(pending, request) {
      const signedIn = await browsers.read(request.headers)
      const isKnown = signedIn && (!pending.prompts.includes('login') || people.sessions.isFresh(signedIn.session))
      if (isKnown)
        return browsers.kept(await ask({ pending, signedIn, texts: textsFor(request.headers) }, request.query), signedIn, request.headers)
      if (pending.prompts.includes('none')) return redirectTo(authorizations.deny(pending, 'login_required'))
      return signInFirst(pathOf(request.query), signedIn !== undefined)
    },
    async decide(pending, request, form) {
      requireSameOrigin(request.headers, people.relyingParty.origin)
      const signedIn = await browsers.read(request.headers)
      if (!signedIn) return signInFirst(pathOf(request.query))
      people.sessions.requireCsrfToken(signedIn.session, form.get('csrf') ?? '')
      const decision = form.get('decision')
      if (decision === 'deny') return redirectTo(authorizations.deny(pending))
      const asked = { pending, signedIn, texts: textsFor(request.headers) }
      return browsers.kept(await approve(asked, form, request.query), signedIn, request.headers)
    },
  }
}

interface Asked {
  readonly pending: PendingAuthorization
  readonly signedIn: SignedIn
  readonly texts: PageTexts
}

const pathOf = (query: string): string => `${oauthPaths.authorize}?${query}`

/** Separates the request from earlier choices. */
function partsOf(query: string): { readonly request: string; readonly sealed: string } {
  const search = new URLSearchParams(query)
  const sealed = search.get(choicesParameter) ?? ''
  search.delete(choicesParameter)
  return { request: search.toString(), sealed }
}

/** Returns the fields of the form without the token of the session. */
function choicesOf(form: URLSearchParams): URLSearchParams {
  const chosen = new URLSearchParams(form)
  chosen.delete('csrf')
  return chosen
}

/** Throws `validation_failed` if the form has no place. */
function readDecision(form: URLSearchParams): Decision {
  const { organizationId, projectId } = readOrganizationChoice(form.get('place'))
  const project = projectId === undefined ? { name: form.get('name') ?? '' } : { id: projectId }
  const reachesOrganization = form.get('organization') === 'all'
  return { organizationId, project, scopes: parseScopes(form.getAll('scope').join(' ')), reachesOrganization, toolsets: readToolsets(form) }
}

/** Returns the problem of a choice, which the form shows again. */
function faultOf(error: unknown): FieldFault | undefined {
  if (!(error instanceof Refusal) || error.code !== 'validation_failed') return undefined
  const [problem] = (error.details?.['fields'] ?? []) as readonly FieldProblem[]
  return problem && { field: problem.path, message: problem.message }
}

/** Consent of users to applications: the `AuthorizationUi` of the authorization endpoint. Anonymous visitors sign in first. */
import type { Authorizations, PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import type { Consents, Decision } from '#core/consent/consents.ts'
import { changesSettings, parseScopes } from '#core/oauth/protocol/scopes.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import { Refusal, type FieldProblem } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { redirectTo, type AuthorizationUi, type PageRequest } from '../../oauth/authorize.ts'
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
}

const noForm = new URLSearchParams()

export function consentUi(pages: Pages, { authorizations, consents }: ConsentCore): AuthorizationUi {
  const { people, browsers } = pages
  const show = async ({ pending, signedIn, texts }: Asked, form: URLSearchParams, fault?: FieldFault): Promise<Answer> => {
    const places = await consents.places(signedIn.user.id, pending)
    return consentPage({ pending, places, visitor: browsers.visitorOf(signedIn), form, fault, texts })
  }
  const ask = async (asked: Asked): Promise<Answer> => {
    const { pending, signedIn } = asked
    const before = await consents.remembered(signedIn.user.id, pending)
    if (before) return redirectTo(await authorizations.approve(pending, before))
    if (pending.prompts.includes('none')) return redirectTo(authorizations.deny(pending, 'consent_required'))
    return show(asked, noForm)
  }
  const approve = async (asked: Asked, form: URLSearchParams, path: string): Promise<Answer> => {
    const { pending, signedIn } = asked
    try {
      const decision = readDecision(form)
      if (decision.scopes.some(changesSettings) && !people.sessions.isFresh(signedIn.session)) return signInFirst(path, true)
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
      if (isKnown) return browsers.kept(await ask({ pending, signedIn, texts: textsFor(request.headers) }), signedIn, request.headers)
      if (pending.prompts.includes('none')) return redirectTo(authorizations.deny(pending, 'login_required'))
      return signInFirst(pathOf(request), signedIn !== undefined)
    },
    async decide(pending, request, form) {
      requireSameOrigin(request.headers, people.relyingParty.origin)
      const signedIn = await browsers.read(request.headers)
      if (!signedIn) return signInFirst(pathOf(request))
      people.sessions.requireCsrfToken(signedIn.session, form.get('csrf') ?? '')
      const decision = form.get('decision')
      if (decision === 'deny') return redirectTo(authorizations.deny(pending))
      const asked = { pending, signedIn, texts: textsFor(request.headers) }
      return browsers.kept(await approve(asked, form, pathOf(request)), signedIn, request.headers)
    },
  }
}

interface Asked {
  readonly pending: PendingAuthorization
  readonly signedIn: SignedIn
  readonly texts: PageTexts
}

const pathOf = ({ query }: PageRequest): string => `${oauthPaths.authorize}?${query}`

/** Throws `validation_failed` if the form has no place. */
function readDecision(form: URLSearchParams): Decision {
  const { organizationId, projectId } = readOrganizationChoice(form.get('place'))
  const project = projectId === undefined ? { name: form.get(`name-${organizationId}`) ?? '' } : { id: projectId }
  const reachesOrganization = form.get('organization') === 'all'
  return { organizationId, project, scopes: parseScopes(form.getAll('scope').join(' ')), reachesOrganization, toolsets: readToolsets(form) }
}

/** Returns the problem of a choice, which the form shows again. */
function faultOf(error: unknown): FieldFault | undefined {
  if (!(error instanceof Refusal) || error.code !== 'validation_failed') return undefined
  const [problem] = (error.details?.['fields'] ?? []) as readonly FieldProblem[]
  return problem && { field: problem.path, message: problem.message }
}

/** Sign-in by mailed link or passkey, and sign-out. */
import { safePath } from '#core/people/sign-in/login-link.ts'
import type { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { faultSummary, textField, type FieldFault } from '../layout/form-fields.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import { Pages, seeOther, type PageRequest } from '../session/page-operation.ts'
import { passkeySignIn } from './passkey-form.ts'
import { withoutMail } from '../layout/without-mail.ts'

export const signInOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  return [
    pages.open({ path: '/sign-in', operationId: 'showSignIn', summary: 'Show the sign-in page' }, (request) => {
      const next = safePath(request.query('next'))
      const again = request.query('again') !== undefined && request.signedIn !== undefined
      if (request.signedIn && !again) return seeOther(next)
      return signInPage(pages, request.texts, { next, email: again ? request.signedIn?.user.email : undefined, again })
    }),
    pages.openForm({ path: '/sign-in', operationId: 'requestSignInLink', summary: 'Mail a sign-in link' }, async (request) => {
      const email = (request.form.get('email') ?? '').trim()
      const next = safePath(request.form.get('next'))
      try {
        await people.loginLinks.request(email, next, request.remoteAddress)
      } catch (error) {
        if (!isFilledIn(error)) throw error
        return signInPage(pages, request.texts, {
          next,
          email,
          fault: { field: 'email', message: request.texts.signIn.needsAddress },
          status: 400,
        })
      }
      return sentPage(email, await people.mail.isReady(), request.texts)
    }),
    pages.openForm(
      { path: '/sign-in/passkey', operationId: 'signInByPasskey', summary: 'Sign in with a passkey' },
      async ({ form, headers }) => {
        const { cookie } = await people.passkeys.signIn(form.get('response') ?? '', browsers.browserOf(headers))
        return seeOther(safePath(form.get('next')), browsers.keep(cookie))
      },
    ),
    pages.form({ path: '/sign-out', operationId: 'signOut', summary: 'End the session', back: () => '/sign-in' }, async ({ signedIn }) => {
      await people.sessions.revoke(signedIn.user.id, signedIn.session.id)
      return seeOther('/signed-out', browsers.forget())
    }),
    pages.open({ path: '/signed-out', operationId: 'showSignedOut', summary: 'Show that the session has ended' }, ({ texts }) =>
      signedOutPage(texts),
    ),
    ...linkOperations(pages),
  ]
}

/** Opening a link changes nothing, since mail scanners open links. The button on its page signs in. */
const linkOperations = (pages: Pages): readonly Operation[] => {
  const { people, browsers } = pages
  const path = '/sign-in/link/{token}'
  const show = async (token: string, texts: PageTexts, typed = '', fault?: FieldFault): Promise<Answer> =>
    linkPage((await people.loginLinks.look(token)).email, texts, typed, fault)
  const consume = async ({ params: { token = '' }, form, headers, texts }: PageRequest): Promise<Answer> => {
    const typed = form.get('email') ?? ''
    try {
      const { cookie, next } = await people.loginLinks.consume(token, browsers.browserOf(headers), typed)
      return seeOther(next, browsers.keep(cookie))
    } catch (error) {
      if (!isFilledIn(error)) throw error
      return show(token, texts, typed, { field: 'email', message: texts.signIn.needsOwnAddress })
    }
  }
  return [
    pages.open({ path, operationId: 'showSignInLink', summary: 'Ask whether to sign in' }, ({ params: { token = '' }, texts }) =>
      show(token, texts),
    ),
    pages.openForm({ path, operationId: 'useSignInLink', summary: 'Sign in with a link' }, consume),
  ]
}

interface SignInView {
  readonly next: string
  readonly email?: string | undefined
  readonly again?: boolean
  readonly fault?: FieldFault
  readonly status?: number
}

async function signInPage({ people }: Pages, texts: PageTexts, { next, email, again, fault, status }: SignInView): Promise<Answer> {
  const { lang, signIn } = texts
  const title = again ? signIn.again : signIn.title
  const hasPasskeys = people.passkeys.areAvailable
  const isMailed = await people.mail.isReady()
  const lead = isMailed ? signIn.byLink : signIn.noPassword
  return page({
    title: fault ? texts.problem({ title }) : title,
    lang,
    keepsOpener: true,
    hasScript: hasPasskeys,
    ...(status !== undefined && { status }),
    content: html`<div class="sheet">
      <h1>${title}</h1>
      <p class="lead">${again ? signIn.againLead : lead}</p>
      ${faultSummary(fault)}
      ${
        isMailed
          ? html`<form method="post" action="/sign-in" novalidate>
              <input type="hidden" name="next" value="${next}" />
              ${textField({ name: 'email', label: signIn.address, type: 'email', value: email, autocomplete: 'username webauthn', maxLength: 254, fault })}
              <button>${signIn.mailLink}</button>
            </form>`
          : withoutMail(texts, email)
      }
      ${hasPasskeys && passkeySignIn(await people.passkeys.requestOptions(), next, texts)}
    </div>`,
  })
}

const sentPage = (email: string, isMailed: boolean, texts: PageTexts): Answer =>
  page({
    title: texts.signIn.checkMail,
    lang: texts.lang,
    keepsOpener: true,
    content: html`<div class="sheet">
      <h1>${texts.signIn.checkMail}</h1>
      ${
        isMailed
          ? html`<p>${texts.signIn.sent({ email })}</p>
              <p class="hint">${texts.signIn.noMail}</p>`
          : withoutMail(texts, email)
      }
      <a class="button quiet" href="/sign-in">${texts.signIn.otherAddress}</a>
    </div>`,
  })

function linkPage(email: string | null, { lang, signIn }: PageTexts, typed: string, fault: FieldFault | undefined): Answer {
  const first: Html = html`<h1>${signIn.welcomeTo}</h1>
    <p class="lead">${signIn.becomesOwner}</p>
    ${faultSummary(fault)}`
  const known: Html = html`<h1>${signIn.title}</h1>
    <p class="lead">${signIn.goOnAs({ email: email ?? '' })}</p>`
  return page({
    title: email === null ? signIn.welcome : signIn.title,
    lang,
    keepsOpener: true,
    ...(fault && { status: 400 }),
    content: html`<div class="sheet">
      ${email === null ? first : known}
      <form method="post" novalidate>
        ${
          email === null &&
          textField({
            name: 'email',
            label: signIn.ownAddress,
            type: 'email',
            value: typed,
            autocomplete: 'email',
            maxLength: 254,
            fault,
          })
        }
        <button>${signIn.title}</button>
      </form>
    </div>`,
  })
}

const signedOutPage = ({ lang, signIn }: PageTexts): Answer =>
  page({
    title: signIn.signedOut,
    lang,
    content: html`<div class="sheet">
      <h1>${signIn.youAreSignedOut}</h1>
      <p>${signIn.sessionEnded}</p>
      <a class="button" href="/sign-in">${signIn.signInAgain}</a>
    </div>`,
  })

const isFilledIn = (error: unknown): boolean => (error as Partial<Refusal>).code === 'validation_failed'

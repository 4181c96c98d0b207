/** Every page for people, in two lists: their own, and those about applications. */
import type { Organizations } from '#core/administration/organizations.ts'
import type { Applications } from '#core/consent/applications.ts'
import { startPage } from '#core/people/login-link.ts'
import { authorizeOperations } from '../oauth/authorize.ts'
import type { Operation } from '../operation.ts'
import { accountOperations } from './account.ts'
import { applicationOperations } from './applications.ts'
import { assetOperation } from './assets.ts'
import { consentUi, type ConsentCore } from './consent.ts'
import { invitationOperations } from './invitation.ts'
import { memberOperations } from './members.ts'
import { messageViewOperations, type MessageViewCore } from './message-view.ts'
import { organizationEndOperations } from './organization-end.ts'
import { organizationOperations } from './organizations.ts'
import { underOwnAddress } from './own-address.ts'
import { Pages, seeOther, type PagesCore } from './page-operation.ts'
import { signInOperations } from './sign-in.ts'
import { usageOperations, type UsagePagesCore } from './usage.ts'

export type { PagesCore } from './page-operation.ts'

export interface AllowingCore extends PagesCore, ConsentCore {
  readonly applications: Applications
}

export interface OwnPagesCore extends PagesCore, UsagePagesCore, MessageViewCore {
  readonly organizations: Pick<Organizations, 'removeOwn'>
}

export function pageOperations(core: OwnPagesCore): readonly Operation[] {
  const pages = new Pages(core)
  return underOwnAddress(core.people.relyingParty.origin, [
    assetOperation,
    pages.open({ path: '/', operationId: 'showStart', summary: 'Lead to the start page' }, () => seeOther(startPage)),
    ...signInOperations(pages),
    ...organizationOperations(pages),
    ...invitationOperations(pages),
    ...memberOperations(pages),
    ...organizationEndOperations(pages, core.organizations),
    ...usageOperations(pages, core),
    ...accountOperations(pages),
    ...messageViewOperations(pages, core),
  ])
}

/** The pages on which people let applications in, and out again. */
export function allowingOperations(core: AllowingCore): readonly Operation[] {
  const pages = new Pages(core)
  return underOwnAddress(core.people.relyingParty.origin, [
    ...applicationOperations(pages, core.applications),
    ...authorizeOperations(core.authorizations, consentUi(pages, core)),
  ])
}

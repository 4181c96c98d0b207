/** All pages for people, in two lists: their own pages, and pages about applications. */
import type { Organizations } from '#core/administration/organizations.ts'
import type { Applications } from '#core/consent/applications.ts'
import { approvalOperations } from './agents/approvals.ts'
import { authorizeOperations } from '../oauth/authorize.ts'
import { docsOperations } from '../docs-site/mount.ts'
import { dashboardOperations, type DashboardCore } from '../dashboard/mount.ts'
import type { Operation } from '../operation/operation.ts'
import { applicationOperations } from './consent/applications.ts'
import { assetOperations } from './layout/assets.ts'
import { consentUi, type ConsentCore } from './consent/consent.ts'
import { invitationOperations } from './organizations/invitation.ts'
import { recipientOperations, type RecipientPagesCore } from './messages/recipient.ts'
import { inboxPageOperations, type InboxPagesCore } from './messages/inboxes.ts'
import { memberOperations } from './organizations/members.ts'
import { draftFrameOperation } from './messages/draft-frame.ts'
import { messageViewOperations, type MessageViewCore } from './messages/message-view.ts'
import { organizationEndOperations } from './organizations/organization-end.ts'
import { organizationOperations } from './organizations/organizations.ts'
import { underOwnAddress } from './session/own-address.ts'
import { Pages, type PagesCore } from './session/page-operation.ts'
import { signInOperations } from './account/sign-in.ts'
import { startOperation } from './account/start-page.ts'
import { usageOperations, type UsagePagesCore } from './organizations/usage-page.ts'

export type { PagesCore } from './session/page-operation.ts'

export interface AllowingCore extends PagesCore, ConsentCore {
  readonly applications: Applications
}

export interface OwnPagesCore extends PagesCore, DashboardCore, UsagePagesCore, MessageViewCore, InboxPagesCore, RecipientPagesCore {
  readonly organizations: Pick<Organizations, 'removeOwn'>
}

export function pageOperations(core: OwnPagesCore): readonly Operation[] {
  const pages = new Pages(core)
  return underOwnAddress(core.people.relyingParty.origin, [
    ...assetOperations,
    startOperation(pages, core),
    ...dashboardOperations(pages, core),
    ...docsOperations(core.baseUrl),
    ...signInOperations(pages),
    ...organizationOperations(pages),
    ...invitationOperations(pages),
    ...recipientOperations(pages, core),
    ...memberOperations(pages),
    ...organizationEndOperations(pages, core.organizations),
    ...usageOperations(pages, core),
    ...inboxPageOperations(pages, core),
    ...messageViewOperations(pages, core),
    ...approvalOperations(pages, core),
    draftFrameOperation(core.people),
  ])
}

/** Pages that grant and revoke the access of applications. */
export function allowingOperations(core: AllowingCore): readonly Operation[] {
  const pages = new Pages(core)
  return underOwnAddress(core.people.relyingParty.origin, [
    ...applicationOperations(pages, core.applications),
    ...authorizeOperations(core.authorizations, consentUi(pages, core)),
  ])
}

/** Default records and message facts for tests of the core. */
import type { SmtpCredential } from '#core/access/smtp-credential.ts'
import type { SmtpDestination } from '#core/routing/destination.ts'
import type { ContentFacts } from '#core/submission/submission.ts'
import type { Project } from '#core/tenancy/organization.ts'
import { startOfTime } from '../support/fake-clock.ts'

export const organizationId = 'org_1'
export const projectId = 'prj_1'

export const factsDefaults: ContentFacts = {
  prefix: '',
  subject: 'hi',
  messageId: 'm@example.com',
  headerFrom: 'shop@example.com',
  headerAddresses: ['shop@example.com', 'anna@example.net'],
  eightBit: false,
}

export const projectDefaults: Project = {
  id: projectId,
  name: 'Default',
  status: 'claimed',
  isDefault: true,
  noRoutePolicy: 'capture',
  sendBudget: null,
  monthlyCaptureCap: null,
  createdAt: startOfTime,
}

export const destinationDefaults: SmtpDestination = {
  id: 'dst_1',
  projectId,
  name: 'Provider',
  provider: 'smtp',
  preset: null,
  environment: null,
  priority: 0,
  mode: 'live',
  from: null,
  host: 'smtp.provider.test',
  port: 587,
  security: 'starttls',
  tlsPolicy: 'verify',
  username: null,
  sealedPassword: null,
  maxConnections: 2,
  maxRatePerMin: null,
  createdAt: startOfTime,
  updatedAt: startOfTime,
}

export const credentialDefaults: SmtpCredential = {
  id: 'crd_1',
  projectId,
  label: 'CMS',
  username: 'cms-user',
  passwordFingerprint: '',
  allowedFromDomains: [],
  enforceHeaderFrom: true,
  defaultDestinationId: 'dst_1',
  maxRatePerMin: null,
  maxMessageBytes: null,
  expiresAt: null,
  verpEnabled: false,
  verpBounceDomain: null,
  clickTrackingEnabled: false,
  openTrackingEnabled: false,
  createdAt: startOfTime,
  updatedAt: startOfTime,
}

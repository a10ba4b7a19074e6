/** The ValidatingAdmissionPolicy that takes requests in the name of their own user only, where it is applied. */
export const requestPolicyName = 'cofferdam-requests'

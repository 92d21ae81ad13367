// The script that the provider and the receiver of admin.py send in every text of a response.
export const { script: SCRIPT } = JSON.parse(process.env.COFFER_TEST);

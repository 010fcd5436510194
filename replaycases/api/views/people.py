"""Projects, teams, roles, invitations, tokens, notifications, and what needs the person."""

from __future__ import annotations

from typing import Any

from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.utils import extend_schema
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Scope, Team
from replaycases.api.acts import Act, with_acts
from replaycases.api.base import ApiViewSet, ordered
from replaycases.api.filters import MembershipFilter, NotificationFilter, OfProject
from replaycases.api.serializers import people as shown
from replaycases.api.serializers.needs import NeedsSerializer
from replaycases.api.views import deeds
from replaycases.cases import inbox, needs, people
from replaycases.cases.models import Case, Notification

# A list route that answers one object.
ONE = forced_singular_serializer(NeedsSerializer)  # type: ignore[no-untyped-call]
NOBODY: frozenset[Scope] = frozenset()


@with_acts(
    Act(
        method="patch",
        does=people.edit_project,
        takes=shown.ProjectChange,
        gives=shown.ProjectSerializer,
        subject="project",
        says="How long evidence lives, and after how long a case in a lane is reviewed again.",
    ),
)
class ProjectViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Project.objects.all()
    serializer_class = shown.ProjectSerializer
    pagination_class = ordered("key")


@with_acts(
    Act(does=people.create_team, takes=shown.NewTeam, gives=shown.TeamSerializer, status=201, says="Make a team."),
    Act(
        method="patch",
        does=people.rename_team,
        takes=shown.TeamChange,
        gives=shown.TeamSerializer,
        subject="team",
        says="Give the team another name.",
    ),
    Act(
        noun="members",
        method="put",
        does=people.set_team_members,
        takes=shown.TeamMembers,
        gives=shown.TeamSerializer,
        subject="team",
        says="Make exactly these people the team.",
    ),
)
class TeamViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Team.objects.select_related("project").prefetch_related("members")
    serializer_class = shown.TeamSerializer
    filterset_class = OfProject
    pagination_class = ordered("name")


@with_acts(
    Act(
        does=people.grant_role,
        takes=shown.NewMembership,
        gives=shown.MembershipSerializer,
        status=201,
        says="Give somebody a role, as administrator.",
    ),
    Act(method="delete", does=deeds.revoke, gives=None, subject="membership", says="Take the role away."),
)
class MembershipViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    queryset = Membership.objects.select_related("project", "user")
    serializer_class = shown.MembershipSerializer
    filterset_class = MembershipFilter
    pagination_class = ordered()
    lookup_value_converter = "int"


@with_acts(
    Act(
        does=deeds.invite,
        takes=shown.NewInvitation,
        gives=shown.MadeInvitation,
        status=201,
        says="Offer roles to an e-mail address. The link is shown once.",
    ),
    Act(
        noun="revocation",
        does=deeds.revoke_invitation,
        gives=shown.InvitationSerializer,
        subject="invitation",
        says="Take the offer back.",
    ),
)
class InvitationViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """For administrators."""

    queryset = Invitation.objects.select_related("project")
    serializer_class = shown.InvitationSerializer
    filterset_class = OfProject
    read_scopes = NOBODY


@with_acts(
    Act(
        does=deeds.make_token,
        takes=shown.NewToken,
        gives=shown.MadeToken,
        status=201,
        says="Make a token of one's own. The secret is shown once.",
    ),
    Act(
        noun="revocation",
        does=people.revoke_token,
        gives=shown.TokenSerializer,
        subject="token",
        says="End the token at once.",
    ),
)
class TokenViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """One's own tokens."""

    queryset = ApiToken.objects.select_related("project")
    serializer_class = shown.TokenSerializer
    filterset_class = OfProject
    read_scopes = NOBODY


@with_acts(
    Act(
        noun="reading",
        does=inbox.mark_read,
        gives=shown.NotificationSerializer,
        subject="notification",
        says="It was read.",
    ),
)
class NotificationViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """One's own notifications."""

    queryset = Notification.objects.all()
    serializer_class = shown.NotificationSerializer
    filterset_class = NotificationFilter
    pagination_class = ordered("-created_at")
    read_scopes = NOBODY


class NeedsViewSet(ApiViewSet):
    queryset = Case.objects.all()
    pagination_class = None
    read_scopes = NOBODY

    @extend_schema(responses=ONE, filters=False, operation_id="needs_retrieve")
    def list(self, request: Request, **_: Any) -> Response:
        """What needs the person who asks: the home page as JSON."""
        return Response(NeedsSerializer(needs.of(self.user)).data)
